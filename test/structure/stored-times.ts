import ts from "typescript";
import type { Column } from "../../adapters/storage/tables/field-columns.ts";
import { RECORDS } from "../../adapters/storage/tables/stored-fields.ts";
import type { SourceFile } from "./source-files.ts";

/** Reason why a column of times has no row in `MAX_AHEAD_MS`. */
const REASONS = {
  shown: "it is only shown, or orders a page: no code compares it with the time",
  purge: "it is only compared with the purge clock",
  chosen: "a user chose it, so any distance is legal",
  database: "the database's clock both writes and reads it",
  checked: "the query that reads it ignores one that is too far ahead",
  span: "it is compared only with other times of the same call",
} as const;

/** The other columns of the database that hold times; JSON columns by their name. */
export const OTHER_TIMES: ReadonlyMap<string, keyof typeof REASONS> = new Map([
  ["users.created_at", "shown"],
  ["accounts.removal_begun_at", "shown"],
  ["tokens.created_at", "shown"],
  ["tokens.expires_at", "chosen"],
  ["tokens.revoked_at", "shown"],
  ["tokens.last_used_at", "shown"],
  // Time since which dials belong to a number: compared with `calls.dialing_at`; one in the future is overridden by the id next to it.
  ["instances.dialled_number", "span"],
  ["instances.created_at", "shown"],
  ["instances.updated_at", "shown"],
  ["instances.erased_at", "purge"],
  ["consents.created_at", "shown"],
  ["consents.updated_at", "shown"],
  ["calls.not_before", "checked"],
  ["calls.started_at", "span"],
  ["calls.ended_at", "purge"],
  ["calls.counted_at", "purge"],
  ["removed_calls.created_at", "purge"],
  ["events.at", "shown"],
  ["receipts.created_at", "purge"],
  ["transcripts.at", "shown"],
  ["trusted_time.at", "purge"],
  ["trusted_time.claimed_at", "purge"],
  ["stored_audio.created_at", "shown"],
  ["stored_audio.expires_at", "purge"],
  ["stored_audio.deleted_at", "shown"],
  ["batches.created_at", "shown"],
  ["batches.updated_at", "shown"],
  ["batches.started_at", "shown"],
  ["batches.ended_at", "purge"],
  ["batch_targets.updated_at", "shown"],
  ["batch_targets.next_attempt_at", "chosen"],
  ["webhooks.created_at", "shown"],
  ["webhooks.updated_at", "shown"],
  ["webhook_deliveries.last_attempt_at", "shown"],
  ["accounts.created_at", "shown"],
  ["account_codes.created_at", "shown"],
  ["audit_log.at", "purge"],
  ["owners.expires_at", "database"],
]);

/** Columns with numbers that are not times. */
const NO_TIME =
  /(?:^|\.)(?:version|slot|line|part|position|numbered|calls|targets|attempts|batch_attempt|source_row|max_concurrent|\w+_position|last_status|max_calls_per_day|epoch|id|confidence|amount|\w+_bytes|\w+_ms)$/;

/** Columns that may hold times: numeric columns and two JSON columns. */
export function timeColumns(schema: SourceFile): readonly string[] {
  const recordColumns = Object.entries(RECORDS).flatMap(([table, { columns }]) =>
    Object.values<Column>(columns)
      .filter(({ kind }) => kind === "number")
      .map(({ name }) => `${table}.${name}`),
  );
  const file = ts.createSourceFile(schema.path, schema.text, ts.ScriptTarget.ESNext);
  const tables = new Map<string, ts.NodeArray<ts.TypeElement>>();
  file.forEachChild((node) => void (ts.isInterfaceDeclaration(node) && tables.set(node.name.text, node.members)));
  const otherColumns = [...(tables.get("Database") ?? []), ...(tables.get("AddedColumns") ?? [])].flatMap((table) => {
    if (!ts.isPropertySignature(table) || !table.type) return [];
    const columns = ts.isTypeLiteralNode(table.type) ? table.type.members : tables.get(table.type.getText(file));
    return (columns ?? []).flatMap((column) =>
      ts.isPropertySignature(column) && /^number\b/.test(column.type?.getText(file) ?? "")
        ? [`${table.name.getText(file)}.${column.name.getText(file)}`]
        : [],
    );
  });
  const columns = [...recordColumns, ...otherColumns].filter((column) => !NO_TIME.test(column));
  return [...columns, "instances.pause", "instances.dialled_number"];
}

/** Record fields for the times of `MAX_AHEAD_MS`. */
const TIME_FIELD =
  /(?:^|[.?(])(?:createdAt|dialingAt|linkedAt|nextAttemptAt|oldKeyUntil|expiresAt|lastUsedAt|until)(?: \?\? \w+\))?$/;
/** Functions that read a stored time safely. */
const STORED_TIME_READ = /\b(?:storedTime|codeExpiry|withEffectiveTimes)\(/;

/** Files whose comparisons of times are exempt, with the reason. */
const NOT_STORED: ReadonlyMap<string, string> = new Map([
  [
    "src/application/calls/dialling/queue-timeout.ts",
    "it uses the shorter of the ages that a changed clock leaves possible",
  ],
  ["src/application/instances/current-link-code.ts", "a code of the network lives in memory only"],
  ["src/application/tokens/tokens.ts", "a user chose when a token expires"],
  ["src/application/accounts/account-tokens.ts", "a user chooses when a token expires"],
  ["src/application/instances/number-pause.ts", "the pause in force is decided from the dials each time"],
]);

const OPERATORS = new Set([
  ts.SyntaxKind.LessThanToken,
  ts.SyntaxKind.LessThanEqualsToken,
  ts.SyntaxKind.GreaterThanToken,
  ts.SyntaxKind.GreaterThanEqualsToken,
  ts.SyntaxKind.MinusToken,
]);

/** Places in src/application that compare a stored time with the wall clock without `storedTime`. */
export function unreadTimesOf({ path, text }: SourceFile): readonly string[] {
  if (!path.startsWith("src/application/") || NOT_STORED.has(path)) return [];
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.ESNext);
  const violations: string[] = [];
  const visit = (node: ts.Node, body: string): void => {
    const ownText = ts.isMethodDeclaration(node) || ts.isFunctionDeclaration(node) ? node.getText(file) : body;
    if (ts.isBinaryExpression(node) && OPERATORS.has(node.operatorToken.kind) && !STORED_TIME_READ.test(ownText)) {
      const operands = [node.left, node.right].map((side) => side.getText(file));
      if (operands.some((side) => TIME_FIELD.test(side)) && operands.some((side) => /\b(?:now|timestamp)\b/.test(side)))
        violations.push(
          `${path}:${file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1}: read the time of ${node.getText(file)} by storedTime()`,
        );
    }
    ts.forEachChild(node, (child) => visit(child, ownText));
  };
  visit(file, "");
  return violations;
}
