const KINDS = ["Add", "Change", "Fix"] as const;
const UNRELEASED = " (unreleased)";

/**
 * The changelog with a new version on top, from the texts of its changesets: one line each, in the order Add, Change,
 * Fix. Without texts, the unreleased version at the top is marked as released.
 * @throws {Error} a changeset line begins with an unknown kind, or no release is pending
 */
export function releasedChangelog(changelog: string, version: string, summaries: readonly string[]): string {
  const heading = `## ${version}`;
  const releasedText = changelog.replace(`${heading}${UNRELEASED}\n`, `${heading}\n`);
  if (summaries.length === 0) {
    if (releasedText === changelog)
      throw new Error(`nothing to release: no changeset, and no "${heading}${UNRELEASED}"`);
    return releasedText;
  }
  const lines = summaries.flatMap((summary) => summary.split("\n").filter((line) => line.trim() !== ""));
  const unknownLine = lines.find((line) => kindOf(line) < 0);
  if (unknownLine !== undefined)
    throw new Error(`a changeset has the line "${unknownLine}": begin it with Add:, Change: or Fix:`);
  const sortedLines = lines.map(plain).sort((a, b) => kindOf(a) - kindOf(b));
  const section = `${heading}\n\n${sortedLines.map((line) => `- ${line}\n`).join("")}\n`;
  const start = changelog.search(/^## /m);
  return start < 0
    ? `${changelog.trimEnd()}\n\n${section}`
    : changelog.slice(0, start) + section + changelog.slice(start);
}

const plain = (line: string): string => line.replace(/^[-*]\s+/, "").trim();
const kindOf = (line: string): number => KINDS.findIndex((kind) => plain(line).startsWith(`${kind}: `));
