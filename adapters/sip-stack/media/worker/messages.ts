import type { MediaOptions, StreamSettings } from "../engine.ts";
import type { SharedCall } from "./shared-call.ts";

/** From the main thread to the worker; a call is known by its `id`. What has a `ticket` is answered with `done`. */
export type ToMediaWorker =
  | { readonly type: "open"; readonly id: number; readonly options: MediaOptions; readonly shared: SharedCall }
  | { readonly type: "configure"; readonly id: number; readonly settings: StreamSettings }
  | { readonly type: "start"; readonly id: number }
  | { readonly type: "keys"; readonly id: number; readonly digits: string; readonly ticket: number }
  | { readonly type: "close"; readonly id: number; readonly ticket: number };

/** From the worker: `ready` once, when its code has been loaded; then the events of the calls. */
export type FromMediaWorker =
  /** @param monotonic the worker's clock when this was sent, ms */
  | { readonly type: "ready"; readonly monotonic: number }
  | { readonly type: "opened"; readonly id: number; readonly port: number }
  | { readonly type: "refused"; readonly id: number; readonly name: string; readonly message: string }
  | { readonly type: "noticed"; readonly id: number; readonly what: "sending" | "receiving" | "evidence" }
  | { readonly type: "digit"; readonly id: number; readonly digit: string }
  | { readonly type: "silent" | "lost"; readonly id: number; readonly detail: string }
  | { readonly type: "done"; readonly ticket: number; readonly fault?: string | undefined };
