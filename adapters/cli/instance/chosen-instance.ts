import type { Client, Instance } from "../../../src/client/index.ts";
import { UsageError } from "../usage-error.ts";

/** Maximum number of instances listed in an error. */
const MAX_LISTED = 5;

/**
 * The calling instance: the one with this id or name, or the only one.
 * @throws {UsageError} there is no instance, or more than one
 */
export async function chosenInstance(client: Client, idOrName: string | undefined): Promise<Instance> {
  if (idOrName?.startsWith("inst_")) return client.instances.get(idOrName);
  const instances = await Array.fromAsync(client.instances.list());
  if (instances.length === 0)
    throw new UsageError("no instance to call from; create one: ringport instance create --link");
  const matches = idOrName === undefined ? instances : instances.filter(({ name }) => name === idOrName);
  const [first] = matches;
  if (first && matches.length === 1) return first;
  if (first === undefined) throw new UsageError(`unknown instance "${idOrName}"; known: ${instanceList(instances)}`);
  const nameText = idOrName === undefined ? "" : ` named "${idOrName}"`;
  throw new UsageError(
    `there are ${matches.length} instances${nameText}: choose one with --instance ID: ${instanceList(matches)}`,
  );
}

function instanceList(instances: readonly Instance[]): string {
  const names = instances.slice(0, MAX_LISTED).map(({ id, name, status }) => `${id} ("${name}", ${status})`);
  const more = instances.length > MAX_LISTED ? ` and ${instances.length - MAX_LISTED} more` : "";
  return names.join(", ") + more;
}
