const KINDS = ["Add", "Change", "Fix"] as const;
const UNRELEASED = " (unreleased)";

/**
 * The changelog with a new version on top, from the texts of its changesets: one line each, in the order Add, Change,
 * Fix. Without texts, the unreleased version at the top is marked as released.
 * @throws {Error} a line of a changeset begins with an unknown kind, or no release is pending
 */
export function releasedChangelog(changelog: string, version: string, summaries: readonly string[]): string {
  const heading = `## ${version}`;
  const written = changelog.replace(`${heading}${UNRELEASED}\n`, `${heading}\n`);
  if (summaries.length === 0) {
    if (written === changelog) throw new Error(`nothing to release: no changeset, and no "${heading}${UNRELEASED}"`);
    return written;
  }
  const lines = summaries.flatMap((summary) => summary.split("\n").filter((line) => line.trim() !== ""));
  const wrong = lines.find((line) => kindOf(line) < 0);
  if (wrong !== undefined) throw new Error(`a changeset says "${wrong}"; begin the line with Add:, Change: or Fix:`);
  const sorted = lines.map(plain).sort((a, b) => kindOf(a) - kindOf(b));
  const section = `${heading}\n\n${sorted.map((line) => `- ${line}\n`).join("")}\n`;
  const at = changelog.search(/^## /m);
  return at < 0 ? `${changelog.trimEnd()}\n\n${section}` : changelog.slice(0, at) + section + changelog.slice(at);
}

const plain = (line: string): string => line.replace(/^[-*]\s+/, "").trim();
const kindOf = (line: string): number => KINDS.findIndex((kind) => plain(line).startsWith(`${kind}: `));
