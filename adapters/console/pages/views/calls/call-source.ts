import { client } from "../../shell/client.ts";
import { beginnings, onEvents } from "../../shell/live.ts";
import type { CallSource } from "./live-calls.ts";

/** The calls of the account. */
export const accountCalls: CallSource = { page: client.calls.page, onEvents, beginnings };
