import type { Instance } from "../../../../../src/client/index.ts";
import { client } from "../../shell/client.ts";
import { type Data, useData } from "../../shell/use-data.ts";

/** Instances, kept up to date. */
export function useInstances(): Data<readonly Instance[]> {
  return useData(
    async (signal) => (await client.instances.page({}, { signal })).items,
    ({ type }) => type.startsWith("instance."),
  );
}
