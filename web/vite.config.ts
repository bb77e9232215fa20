import { svelte } from '@sveltejs/vite-plugin-svelte'
import { defineConfig } from 'vite'

// One script and one style sheet, with fixed names, so that Go can embed them and put them into a
// report that is one file.
export default defineConfig({
  plugins: [svelte()],
  base: './',
  build: {
    outDir: '../internal/show/web/dist',
    emptyOutDir: false,
    modulePreload: false,
    assetsInlineLimit: 0,
    cssCodeSplit: false,
    rolldownOptions: {
      output: { entryFileNames: 'page.js', assetFileNames: 'page[extname]', codeSplitting: false },
    },
  },
  test: { include: ['src/**/*.test.ts'] },
})
