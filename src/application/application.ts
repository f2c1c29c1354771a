import { Calls } from "./calls.ts";
import type { Context, ContextParts } from "./context.ts";
import { Dispatcher } from "./dispatcher.ts";
import { Instances } from "./instances.ts";
import { Lines } from "./lines.ts";
import { ProviderAccess } from "./provider-access.ts";
import { Queries } from "./queries.ts";
import { QueueTimeout } from "./queue-timeout.ts";
import { recover } from "./recovery.ts";
import { Retention, type RetentionDays } from "./retention.ts";
import { RunningKeys } from "./running-keys.ts";
import { Streams } from "./streams/streams.ts";

/** The use cases and the live part behind them. */
export interface Application {
  readonly instances: Instances;
  readonly calls: Calls;
  readonly queries: Queries;
  /** Settles what a dead process left, connects the linked numbers, starts dialling. */
  start(): Promise<void>;
  /** No new dials; live calls may go on for `drainMs`, then they end as `interrupted`. */
  stop(drainMs: number): Promise<void>;
}

/** A stop waits this long for a storage that is down, ms. */
const STORING_MS = 5_000;

/** Puts the application together. The storage must be open before `start`. */
export function createApplication(parts: ContextParts, keep: RetentionDays): Application {
  const patience = new AbortController();
  const access = new ProviderAccess(parts.telephony, parts.storage.accounts);
  const [streams, runningKeys] = [new Streams(), new RunningKeys()];
  const context: Context = { ...parts, access, givingUp: patience.signal, streams, runningKeys };
  const lines: Lines = new Lines(context, {
    online: (instanceId) => dispatcher.lineUp(instanceId),
    offline: (instanceId, reason) => dispatcher.lineDown(instanceId, reason),
  });
  const dispatcher = new Dispatcher(context, lines, (call) => queueTimeout.waits(call));
  const queueTimeout: QueueTimeout = new QueueTimeout(context, lines);
  const calls = new Calls(context, dispatcher, queueTimeout);
  context.streams.terminate = (callId) => void calls.terminate(callId);
  const instances = new Instances(context, lines, calls);
  const queries = new Queries(context, dispatcher, lines);
  const retention = new Retention(context, keep);
  return {
    instances,
    calls,
    queries,
    async start() {
      await recover(context);
      await lines.start();
      await queueTimeout.start();
      retention.start();
    },
    async stop(drainMs) {
      queueTimeout.stop();
      retention.stop();
      const cancel = context.system.after(drainMs + STORING_MS, () => patience.abort());
      await dispatcher.stop(drainMs);
      await lines.stop();
      cancel();
      patience.abort(); // nobody insists any more
      context.events.close();
    },
  };
}
