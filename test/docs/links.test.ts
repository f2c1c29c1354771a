import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { expect, test } from "vitest";
import { fileOf, PAGES, proseOf, TRANSLATIONS, textOf } from "./pages.ts";

/** The anchors that GitHub makes from a page's headings, and those written by hand. */
function anchorsOf(page: string): Set<string> {
  const text = textOf(page).replace(/^ *```[\s\S]*?^ *```$/gm, "");
  const anchors = new Set([...text.matchAll(/<a (?:id|name)="([^"]+)"/g)].map(([, name]) => name!));
  for (const [, heading = ""] of text.matchAll(/^#{1,6} +(.+?) *$/gm)) {
    const words = heading.replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1").replace(/[`*]|<[^>]+>/g, "");
    const slug = words
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, "")
      .replace(/\s/g, "-");
    let unique = slug;
    for (let count = 1; anchors.has(unique); count++) unique = `${slug}-${count}`;
    anchors.add(unique);
  }
  return anchors;
}

const linksOf = (page: string): string[] => [
  ...[...proseOf(page).matchAll(/\]\(<?([^)\s>]+)>?(?: "[^"]*")?\)/g)].map(([, target]) => target!),
  ...[...proseOf(page).matchAll(/(?:src|href)="([^"]+)"/g)].map(([, target]) => target!),
];

/** Target of a link to one of our files, as a path from the root and an anchor. */
function targetOf(page: string, link: string): { path: string; anchor: string | undefined } {
  const [file = "", anchor] = link.split("#");
  const path = file === "" ? page : normalize(join(dirname(page), decodeURIComponent(file)));
  return { path: path.replaceAll("\\", "/").replace(/\/$/, ""), anchor };
}

test.for([...PAGES, ...TRANSLATIONS])("%s: links and anchors exist", (page) => {
  const deadLinks = linksOf(page)
    .filter((link) => !/^(https?|mailto):/.test(link))
    .filter((link) => {
      const { path, anchor } = targetOf(page, link);
      if (path.startsWith("..") || !existsSync(fileOf(path))) return true;
      return anchor !== undefined && !(path.endsWith(".md") && anchorsOf(path).has(anchor));
    });
  expect(deadLinks).toEqual([]);
});

test.for(TRANSLATIONS)("%s links to the README's pages", (page) => {
  const pagesOf = (name: string) => linksOf(name).filter((link) => !/^README|^#/.test(link));
  expect(pagesOf(page)).toEqual(expect.arrayContaining(pagesOf("README.md")));
  expect(linksOf("README.md")).toContain(page);
});

test.for(["CONTRIBUTING.md", "docs/architecture.md", "docs/first-day.md"])("%s names only files that exist", (page) => {
  const namedPaths = [...textOf(page).matchAll(/`((?:src|adapters|test|examples|docs|\.ci)\/[\w./-]+)`/g)].map(
    ([, path]) => path!,
  );
  expect(namedPaths.length).toBeGreaterThan(15);
  expect(namedPaths.filter((path) => !existsSync(fileOf(path)))).toEqual([]);
});

test("the architecture lists every folder of src, src/application and adapters", () => {
  const text = textOf("docs/architecture.md");
  const unlistedFolders = ["src", "src/application", "adapters"].flatMap((folder) =>
    readdirSync(fileOf(folder), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => (folder === "src/application" ? `  ${name}/` : `${folder}/${name}/`))
      .filter((listed) => !text.includes(`\n${listed}`)),
  );
  expect(unlistedFolders).toEqual([]);
});

test("the README links to every page", () => {
  const reachedPages = new Set(["README.md"]);
  for (const page of reachedPages)
    for (const link of linksOf(page).filter((link) => !/^\w+:/.test(link))) {
      const { path } = targetOf(page, link);
      const isFolder = existsSync(fileOf(path)) && statSync(fileOf(path)).isDirectory();
      const target = isFolder ? `${path}/README.md` : path;
      if (PAGES.includes(target)) reachedPages.add(target);
    }
  expect(PAGES.filter((page) => !reachedPages.has(page))).toEqual([]);
});

test("pages name only files that exist", () => {
  const missingPaths = PAGES.filter((page) => page !== "CHANGELOG.md").flatMap((page) =>
    [...textOf(page).matchAll(/`((?:src|adapters|test|docs|examples)\/[\w./-]*\w)`/g)]
      .map(([, path]) => path!)
      .filter((path) => !existsSync(fileOf(path)))
      .map((path) => `${page}: ${path}`),
  );
  expect(missingPaths).toEqual([]);
});

test("pages name only npm scripts that exist", () => {
  const { scripts } = JSON.parse(readFileSync(fileOf("package.json"), "utf8")) as { scripts: Record<string, string> };
  for (const page of PAGES.filter((page) => page !== "CHANGELOG.md"))
    for (const [, name = ""] of textOf(page).matchAll(/\bnpm run (?:-s )?([\w:-]+)/g))
      expect(Object.keys(scripts), `${page}: npm run ${name}`).toContain(name);
});
