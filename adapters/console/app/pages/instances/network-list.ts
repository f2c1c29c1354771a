import type { NetworkView } from "../../../api.ts";
import { dictionary } from "../../dictionary/dictionary.ts";
import en from "../../dictionary/en/instances.ts";
import pt from "../../dictionary/pt/instances.ts";
import { consoleApi } from "../../shell/console-api.ts";
import { networkKind, operatorName } from "./network-kind.ts";

const t = dictionary({ en, pt });

let request: Promise<readonly NetworkView[]> | undefined;

/**
 * The networks that the account may use, the default first. They change only when the server restarts, so they are read
 * once.
 */
export function networks(): Promise<readonly NetworkView[]> {
  request ??= consoleApi.get<NetworkView[]>("networks").catch((error: unknown) => {
    request = undefined;
    throw error;
  });
  return request;
}

/** A network's name, and its description for users. */
export function networkTexts(provider: string): { readonly title: string; readonly text: string } {
  const { network } = t.value;
  const kind = networkKind(provider);
  const title = network[kind];
  return { title: typeof title === "string" ? title : title(operatorName(provider)), text: network[`${kind}Text`] };
}
