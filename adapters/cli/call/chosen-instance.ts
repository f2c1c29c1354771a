import type { Client, Instance } from "../../../src/client/index.ts";
import { UsageError } from "../usage-error.ts";

/** Instances that an error names. */
const NAMED = 5;

/**
 * The instance that calls: the one with this id or name, or the only one there is.
 * @throws {UsageError} there is none, or more than one
 */
export async function chosenInstance(client: Client, wanted: string | undefined): Promise<Instance> {
  if (wanted?.startsWith("inst_")) return client.instances.get(wanted);
  const all = await Array.fromAsync(client.instances.list());
  if (all.length === 0) throw new UsageError("no instance to call from; create one: ringport instance create --link");
  const fitting = wanted === undefined ? all : all.filter(({ name }) => name === wanted);
  const [only] = fitting;
  if (only && fitting.length === 1) return only;
  if (only === undefined) throw new UsageError(`unknown instance "${wanted}"; known: ${listed(all)}`);
  const alike = wanted === undefined ? "" : ` of the name "${wanted}"`;
  throw new UsageError(
    `there are ${fitting.length} instances${alike}: choose one with --instance ID: ${listed(fitting)}`,
  );
}

function listed(instances: readonly Instance[]): string {
  const names = instances.slice(0, NAMED).map(({ id, name, status }) => `${id} ("${name}", ${status})`);
  const more = instances.length > NAMED ? ` and ${instances.length - NAMED} more` : "";
  return names.join(", ") + more;
}
