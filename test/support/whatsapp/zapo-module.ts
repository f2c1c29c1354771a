import ts from "typescript";
import * as whatsappEntry from "../../../adapters/telephony/whatsapp/index.ts";
import type { WhatsAppClientFactory } from "../../../src/ports/whatsapp-client.ts";
import { FakeWhatsApp, type FakeWhatsAppOptions } from "../../../src/testing/index.ts";
import type { ManualSystem } from "../../../src/testing/manual-system.ts";

/** A module that creates the client from zapo's packages, run with fakes of those packages. */
export interface ZapoModule {
  readonly factory: WhatsAppClientFactory;
  /** Network of its clients, created with the first client and its options. */
  readonly network: FakeWhatsApp;
}

type ClientOptions = Pick<FakeWhatsAppOptions, "history"> & { readonly sessionId: string };

/**
 * Runs the module: its clients belong to a fake network, with the options that the module passes to zapo.
 * @param source TypeScript that exports `client`
 * @param load returns the source of a module that it imports by a relative path
 */
export function runZapoModule(source: string, system: ManualSystem, load: (path: string) => string): ZapoModule {
  let network: FakeWhatsApp | undefined;
  let context: Parameters<WhatsAppClientFactory>[0] | undefined;
  const wrtc = { RTCPeerConnection: class {}, default: {} };
  wrtc.default = wrtc; // as an ECMAScript module and as a CommonJS one
  const packages = new Map<string, unknown>([
    ["ringport/whatsapp", whatsappEntry],
    ["@roamhq/wrtc", wrtc],
    ["@zapo-js/voip", { voipPlugin: (options: object) => options }],
    [
      "zapo-js",
      {
        createStore: (options: object) => options,
        // A constructor that returns a different object; to the caller it looks like the real class.
        WaClient: class {
          constructor({ history }: ClientOptions) {
            network ??= new FakeWhatsApp(system, { ...(history !== undefined && { history }) });
            if (context === undefined) throw new Error("a client outside of its factory");
            // biome-ignore lint/correctness/noConstructorReturn: the fake replaces the class
            return network.client(context) as object;
          }
        },
      },
    ],
  ]);
  const run = (code: string): Record<string, unknown> => {
    const moduleExports = {};
    const { outputText } = ts.transpileModule(code, { compilerOptions: { module: ts.ModuleKind.CommonJS } });
    const requireModule = (path: string) => packages.get(path) ?? run(load(path));
    new Function("require", "exports", outputText)(requireModule, moduleExports);
    return moduleExports;
  };
  const client = run(source).client as WhatsAppClientFactory;
  return {
    factory(options) {
      context = options;
      return client(options);
    },
    get network() {
      if (network === undefined) throw new Error("no client was created");
      return network;
    },
  };
}
