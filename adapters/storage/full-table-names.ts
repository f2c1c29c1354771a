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
import type { Database } from "./schema.ts";
import type { TableNames } from "./table-names.ts";

/** All tables; the compiler reports a missing one. */
const TABLES: Record<keyof Database, true> = {
  users: true,
  tokens: true,
  instances: true,
  credentials: true,
  line_records: true,
  consents: true,
  calls: true,
  removed_calls: true,
  stored_usage: true,
  call_audio: true,
  finished_counts: true,
  events: true,
  event_counters: true,
  receipts: true,
  transcripts: true,
  trusted_time: true,
  webhooks: true,
  webhook_deliveries: true,
  owners: true,
  accounts: true,
  account_sessions: true,
  account_codes: true,
  audit_log: true,
};
/** Tables that one migration creates and drops. */
const TEMPORARY = ["unscoped_receipts", "whole_audio"];
export const TABLE_NAMES: readonly string[] = [...Object.keys(TABLES), ...TEMPORARY];

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
    const transformed = super.transformPrimaryKeyConstraint(node, queryId);
    return node.name ? { ...transformed, name: this.#withPrefix(node.name) } : transformed;
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
