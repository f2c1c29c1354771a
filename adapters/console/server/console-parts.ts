import type { Logger } from "../../../src/ports/logger.ts";
import type { System } from "../../../src/ports/system.ts";
import type { Ringport } from "../../../src/ringport.ts";
import type { ConsoleOptions } from "./console-options.ts";
import type { SessionCookie } from "./session-cookie.ts";
import type { Visitors } from "./visitors.ts";

/** What the parts of the console's server share. */
export interface ConsoleParts {
  readonly ringport: Ringport;
  readonly signIn: ConsoleOptions["signIn"];
  readonly cookie: SessionCookie;
  /** The mark of a browser that has signed in before. */
  readonly deviceCookie: SessionCookie;
  readonly visitors: Visitors;
  readonly system: System;
  readonly log: Logger;
}
