"""Makes pages of the two READMEs, beside docs/ as it stands, and lets links that leave them lead to the repository."""

import posixpath
import re
from pathlib import Path

from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parents[2]
STYLE = """.md-grid { max-width: 78rem }
.md-typeset th:empty { padding: 0; min-width: 0 }
"""
PAGES = {"README.md": "index.md", "README.zh-CN.md": "zh.md"}  # of the repository, and of the site


def on_config(config):
    version = (ROOT / "cmd/pitot/VERSION").read_text().strip()
    config.copyright = f"Pitot {version}, Apache-2.0"


def on_files(files, config):
    files.get_file_from_path("README.md").dest_uri = "questions/index.html"
    files.append(File.generated(config, "site.css", content=STYLE))
    for source, name in PAGES.items():
        files.append(File.generated(config, name, content=(ROOT / source).read_text()))
    return files


def on_page_markdown(markdown, page, config, files):
    folder = "" if page.file.src_uri in PAGES.values() else "docs"

    def relink(match):
        target, anchor = match[1], match[2] or ""
        path = posixpath.normpath(posixpath.join(folder, target))
        if path in PAGES:
            return f"]({PAGES[path]}{anchor})"
        if path.startswith("docs/") and files.get_file_from_path(path[5:]):
            return f"]({path[5:]}{anchor})"
        return f"]({config.repo_url}/blob/main/{path}{anchor})" if (ROOT / path).exists() else match[0]

    # in tables GitHub wants the bar of a code span escaped, and mkdocs shows the escape
    markdown = re.sub(r"(?m)^\|.*", lambda row: re.sub(r"`[^`]*`", lambda code: code[0].replace("\\|", "|"), row[0]), markdown)
    return re.sub(r"\]\(([^)#:\s]+)(#[^)\s]*)?\)", relink, markdown)
