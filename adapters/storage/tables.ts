import {
  type CreateIndexNode,
  type DropIndexNode,
  IdentifierNode,
  type KyselyPlugin,
  OperationNodeTransformer,
  type PrimaryKeyConstraintNode,
  type QueryId,
  SchemableIdentifierNode,
} from "kysely";
import type { NumberPlace } from "./record-columns.ts";
import { RECORDS } from "./records.ts";
import type { Database } from "./schema.ts";
import type { TableNames } from "./table-names.ts";

type Places = {
  readonly [Table in keyof Database]: { readonly [Column in keyof Database[Table]]: readonly NumberPlace[] };
};

const NONE = ["none"] as const;
const KEPT = ["kept"] as const;

/**
 * Every table and column of the database, and what happens to a phone number in it. A new column does not compile until
 * it is here or in records.ts.
 */
export const NUMBER_PLACES: Places = {
  users: RECORDS.users.numbers,
  tokens: RECORDS.tokens.numbers,
  instances: { ...RECORDS.instances.numbers, stored_bytes: NONE },
  credentials: { instance_id: NONE, sealed: NONE },
  line_records: { instance_id: NONE, key: ["record"], sealed: NONE },
  consents: RECORDS.consents.numbers,
  calls: { ...RECORDS.calls.numbers, type: NONE, counted_at: NONE, demo_scope: NONE, stored_bytes: NONE },
  removed_calls: { token_id: NONE, created_at: NONE },
  stored_usage: { owner: NONE, kind: NONE, amount: NONE },
  call_audio: { call_id: NONE, part: NONE, bytes: NONE },
  batches: RECORDS.batches.numbers,
  batch_targets: RECORDS.batch_targets.numbers,
  batch_counts: { batch_id: NONE, status: NONE, reason: NONE, targets: NONE },
  finished_counts: { instance_id: NONE, status: NONE, calls: NONE },
  events: { ...RECORDS.events.numbers, position: NONE },
  event_counters: { user_id: NONE, position: NONE, numbered: NONE },
  receipts: {
    ...{ user_id: NONE, scope: NONE, record_id: NONE, existing_status: NONE, created_at: NONE },
    key: KEPT, // a repeated request must not call again
    fingerprint: NONE, // a hash, deleted with the call
  },
  transcripts: RECORDS.transcripts.numbers,
  trusted_time: { id: NONE, at: NONE, claimed_at: NONE, waited_ms: NONE, step_ms: NONE, stepped_ago_ms: NONE },
  webhooks: RECORDS.webhooks.numbers,
  webhook_deliveries: { ...RECORDS.webhook_deliveries.numbers, requested: NONE },
  owners: { name: NONE, epoch: NONE, owner: NONE, expires_at: NONE },
  accounts: { ...RECORDS.accounts.numbers, email_key: NONE, removal_begun_at: NONE },
  account_sessions: RECORDS.account_sessions.numbers,
  account_codes: RECORDS.account_codes.numbers,
  audit_log: RECORDS.audit_log.numbers,
};

/** The columns of a table whose numbers are treated in this way. */
export function columnsWith<Table extends keyof Database>(table: Table, place: NumberPlace): (keyof Database[Table])[] {
  const columns = Object.entries(NUMBER_PLACES[table]) as [keyof Database[Table], readonly NumberPlace[]][];
  return columns.filter(([, places]) => places.includes(place)).map(([column]) => column);
}

/** Tables that one migration creates and drops. */
const TEMPORARY_TABLES = ["unscoped_receipts", "whole_audio"];
export const TABLE_NAMES: readonly string[] = [...Object.keys(NUMBER_PLACES), ...TEMPORARY_TABLES];

/** Gives every table and index its full name, including tables in raw SQL that are written as `sql.table`. */
export function namedTables({ schema, prefix }: TableNames): KyselyPlugin[] {
  if (schema === undefined && prefix === undefined) return [];
  const transformer = new FullNames(schema, prefix ?? "");
  return [
    {
      transformQuery: ({ node, queryId }) => transformer.transformNode(node, queryId),
      transformResult: async ({ result }) => result,
    },
  ];
}

class FullNames extends OperationNodeTransformer {
  readonly #schema: string | undefined;
  readonly #prefix: string;

  constructor(schema: string | undefined, prefix: string) {
    super();
    this.#schema = schema;
    this.#prefix = prefix;
  }

  protected override transformSchemableIdentifier(node: SchemableIdentifierNode): SchemableIdentifierNode {
    const { name } = node.identifier;
    return node.schema || !TABLE_NAMES.includes(name) ? node : this.#fullName(name);
  }

  protected override transformCreateIndex(node: CreateIndexNode, queryId?: QueryId): CreateIndexNode {
    return { ...super.transformCreateIndex(node, queryId), name: this.#withPrefix(node.name) };
  }

  protected override transformDropIndex(node: DropIndexNode, queryId?: QueryId): DropIndexNode {
    return { ...super.transformDropIndex(node, queryId), name: this.#fullName(node.name.identifier.name) };
  }

  protected override transformPrimaryKeyConstraint(
    node: PrimaryKeyConstraintNode,
    queryId?: QueryId,
  ): PrimaryKeyConstraintNode {
    const transformedNode = super.transformPrimaryKeyConstraint(node, queryId);
    return node.name ? { ...transformedNode, name: this.#withPrefix(node.name) } : transformedNode;
  }

  #fullName(name: string): SchemableIdentifierNode {
    const fullName = this.#prefix + name;
    return this.#schema === undefined
      ? SchemableIdentifierNode.create(fullName)
      : SchemableIdentifierNode.createWithSchema(this.#schema, fullName);
  }

  #withPrefix({ name }: IdentifierNode): IdentifierNode {
    return IdentifierNode.create(this.#prefix + name);
  }
}
