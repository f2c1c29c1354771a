import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { readChangesets } from "@changesets/read";
import { releasedChangelog } from "./changelog.ts";

// Turns the changesets into the next version: writes it to every file with a version, writes the changelog, deletes the
// changesets. Without changesets, the version stays the same. Prints the version.

const { name, version: current } = JSON.parse(readFileSync("package.json", "utf8"));
const changesets = await readChangesets(process.cwd());
const unrelatedChangeset = changesets.find(({ releases }) => releases.some((release) => release.name !== name));
if (unrelatedChangeset) throw new Error(`.changeset/${unrelatedChangeset.id}.md names a package other than ${name}`);

const version = nextVersion();
for (const path of ["package.json", "jsr.json"])
  rewrite(path, (text) => text.replace(/("version": )"[^"]*"/, `$1"${version}"`));
rewrite("src/version.ts", (text) => text.replace(/(VERSION\b.* = )"[^"]*"/, `$1"${version}"`));
rewrite("package-lock.json", (text) => {
  const lock = JSON.parse(text);
  lock.version = lock.packages[""].version = version;
  return `${JSON.stringify(lock, null, 2)}\n`;
});
const summaries = changesets.map(({ summary }) => summary);
rewrite("CHANGELOG.md", (text) => releasedChangelog(text, version, summaries));
for (const { id } of changesets) rmSync(`.changeset/${id}.md`);
console.log(version);

/** The next version. Before 1.0.0 a breaking change is a minor one, as in semver; mark such changesets accordingly. */
function nextVersion(): string {
  const [major = 0, minor = 0, patch = 0] = current.split(".").map(Number);
  const kinds = new Set(changesets.flatMap(({ releases }) => releases.map(({ type }) => type)));
  if (kinds.has("major")) return `${major + 1}.0.0`;
  if (kinds.has("minor")) return `${major}.${minor + 1}.0`;
  return kinds.has("patch") ? `${major}.${minor}.${patch + 1}` : current;
}

function rewrite(path: string, change: (text: string) => string): void {
  writeFileSync(path, change(readFileSync(path, "utf8")));
}
