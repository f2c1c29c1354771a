import type { SourceFile } from "./source-files.ts";

/** Verbs of speaking that are used for an API. */
export const REPORTING = /\b(?:told|tells|says|said|hears)\b/gi;
/** For a condition it is "if" or "when". */
export const WHERE = /\bwhere\b/gi;

/** How often a habit stands in a file, outside of queries. */
export function countOf(habit: RegExp, { text }: SourceFile): number {
  return withoutQueries(text).match(habit)?.length ?? 0;
}

/** Whether a string is SQL: a verb at its start, and the clause that follows such a verb. */
export function isQuery(text: string): boolean {
  return /^\s*(?:select\b.*\bfrom|update\b.*\bset|delete\s+from|insert\s+into|create\s+(?:unique\s+)?index|alter\s+table|with\b.*\bas)\b/is.test(
    text,
  );
}

/** The source without kysely's `.where(…)`, tagged `sql` templates, and strings that are queries. */
function withoutQueries(text: string): string {
  return text
    .replace(/\.where\(/g, "(")
    .replace(/\bsql(?:<[^`]*?>)?`[^`]*(?:`[^`]*`[^`}]*\}[^`]*)*`/g, "sql")
    .replace(/"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g, (quoted) => (isQuery(quoted.slice(1, -1)) ? "" : quoted));
}
