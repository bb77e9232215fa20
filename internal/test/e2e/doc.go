// Package e2e looks at the page in a real browser: the built program on a real store, driven by
// chromedp. Its tests have the build tag e2e and run by make e2e, which finds or installs
// Chromium; each page is opened in both themes, both languages, wide and narrow.
package e2e
