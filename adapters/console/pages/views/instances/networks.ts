import type { NetworkView } from "../../../api.ts";
import { dictionary } from "../../dictionary/dictionary.ts";
import en from "../../dictionary/en/instances.ts";
import pt from "../../dictionary/pt/instances.ts";
import { consoleApi } from "../../shell/console-api.ts";
import { networkKind, ownName } from "./network-kind.ts";

const t = dictionary({ en, pt });

let read: Promise<readonly NetworkView[]> | undefined;

/**
 * The networks that the account may use, the default first. They change only with a restart of the server, so they are
 * read once.
 */
export function networks(): Promise<readonly NetworkView[]> {
  read ??= consoleApi.get<NetworkView[]>("networks").catch((error: unknown) => {
    read = undefined;
    throw error;
  });
  return read;
}

/** The name of a network, and its description for the user who chooses it. */
export function networkTexts(provider: string): { readonly title: string; readonly text: string } {
  const { network } = t.value;
  const kind = networkKind(provider);
  const title = network[kind];
  return { title: typeof title === "string" ? title : title(ownName(provider)), text: network[`${kind}Text`] };
}
