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
import { TABLE_NAMES } from "./all-tables.ts";
import type { TableNames } from "./table-names.ts";

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
