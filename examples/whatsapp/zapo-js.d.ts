// The parts of the client's packages that `zapo.ts` uses, so that it type-checks without them. Delete this file once they are
// installed: they have their own types.
declare module "zapo-js" {
  import type { WhatsAppClient } from "ringport/whatsapp";

  export function createStore(options: object): object;
  export const WaClient: new (options: { sessionId: string; store: object; plugins: object[] }) => WhatsAppClient;
}

declare module "@zapo-js/voip" {
  export function voipPlugin(options: { maxConcurrentCalls: number }): object;
}

declare module "@roamhq/wrtc" {
  const wrtc: import("./relay-ports.ts").Wrtc;
  export default wrtc;
}
