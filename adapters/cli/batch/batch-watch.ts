import { type BatchDetails, type Client, RingportError } from "../../../src/client/index.ts";
import { sleep } from "../../../src/client/pause.ts";
import type { CommandSpec } from "../command.ts";
import { connect } from "../connection/connection.ts";
import { CONNECTION_SETTINGS } from "../connection/connection-settings.ts";
import { EXIT } from "../exit-codes.ts";
import { jsonOption } from "../json-option.ts";
import { interruption } from "../serve/signals.ts";
import { LiveLine } from "../terminal/live-line.ts";
import { paintedStatus } from "../terminal/painted-status.ts";
import { partBar } from "../terminal/progress-bar.ts";
import { isTerminal, outputClosed, print, printJsonLine, printToStderr } from "../terminal/terminal.ts";
import { UsageError } from "../usage-error.ts";
import { countsText } from "./batch-text.ts";
import { localTimeText } from "./batch-times.ts";

const POLL_MS = 1_000;
/** Error codes for a server that has stopped or has lost its database. */
const OUTAGE_CODES: readonly string[] = ["network_error", "timeout", "storage_unavailable"];
/** Minimum time between two lines with the same status if there is no terminal, ms. */
const MIN_ROW_INTERVAL_MS = 10_000;

/** `ringport batch watch`: follows a batch to its end. */
export const batchWatch: CommandSpec = {
  summary: "Follows a batch until it ends.",
  details:
    "On a terminal it is one line with a bar; otherwise a line when the status changes, and at most every ten seconds when the counts do. It waits for a server that restarts. Ctrl-C stops watching, not the batch.\nExit code: 0 everybody was reached, 1 some calls failed or the batch was cancelled, 2 bad input, 130 Ctrl-C.",
  operands: [{ name: "ID", completion: "batch" }],
  options: [jsonOption("the batch at each change, one document per line")],
  settings: CONNECTION_SETTINGS,
  async run(line) {
    const [id = ""] = line.operands;
    const json = line.values.get("json") === true;
    const { client } = await connect(line);
    const interrupted = interruption();
    const signal = AbortSignal.any([interrupted.signal, outputClosed]);
    const view = new WatchView(json);
    try {
      const batch = await watchBatch(client, id, view, signal);
      return hasReachedAll(batch) ? EXIT.done : EXIT.failed;
    } catch (error) {
      view.stop();
      if (!signal.aborted) throw error;
      if (!json) printToStderr(`The batch continues: ringport batch watch ${id}`);
      return interrupted.signal.aborted ? interrupted.exitCode() : EXIT.done;
    }
  },
};

/** Polls the batch until it has ended and none of its calls are live. */
async function watchBatch(client: Client, id: string, view: WatchView, signal: AbortSignal): Promise<BatchDetails> {
  let lastBatch: BatchDetails | undefined;
  for (;;) {
    const batch = await client.batches.get(id, { signal }).catch((error: unknown) => {
      // The server continues the batch after a restart.
      if (lastBatch && error instanceof RingportError && OUTAGE_CODES.includes(error.code)) return undefined;
      throw error;
    });
    if (!batch) {
      view.lost();
      await sleep(POLL_MS, signal);
      continue;
    }
    lastBatch = batch;
    if (batch.status === "DRAFT")
      throw new UsageError(`${id} is a draft and places no calls; start it: ringport batch start ${id}`);
    const { WAITING: waiting = 0, CALLING: live = 0 } = batch.counts.by_status;
    const isFinal = batch.status === "COMPLETED" || batch.status === "CANCELLED";
    if (isFinal && live === 0 && waiting === 0) {
      view.end(batch);
      return batch;
    }
    view.show(batch);
    await sleep(POLL_MS, signal);
  }
}

/** Prints the progress of a batch. */
class WatchView {
  readonly #json: boolean;
  #line: LiveLine | undefined;
  #shownText = "";
  #status = "";
  #isLost = false;
  #printedAt = Number.NEGATIVE_INFINITY;

  constructor(json: boolean) {
    this.#json = json;
  }

  show(batch: BatchDetails): void {
    this.#isLost = false;
    const text = JSON.stringify([batch.status, batch.counts]);
    const hasChanged = text !== this.#shownText;
    const isNewStatus = batch.status !== this.#status;
    this.#shownText = text;
    this.#status = batch.status;
    if (this.#json) {
      if (hasChanged) printJsonLine(batch);
      return;
    }
    if (isTerminal()) {
      this.#line?.stop();
      if (isNewStatus) print(statusLine(batch));
      this.#line = new LiveLine(() => progressText(batch));
      return;
    }
    const now = performance.now();
    if (!isNewStatus && (!hasChanged || now - this.#printedAt < MIN_ROW_INTERVAL_MS)) return;
    this.#printedAt = now;
    print(`${statusLine(batch)}: ${countsText(batch.counts.by_status)}${endText(batch)}`);
  }

  /** Prints the last state. */
  end(batch: BatchDetails): void {
    this.stop();
    if (this.#json) this.show(batch);
    else for (const text of endLines(batch)) print(text);
  }

  /** Called while the server does not respond. */
  lost(): void {
    if (this.#isLost) return;
    this.#isLost = true;
    this.stop();
    if (!this.#json) printToStderr("The server does not respond; waiting for it.");
  }

  stop(): void {
    this.#line?.stop();
    this.#line = undefined;
  }
}

function statusLine({ id, status, reason, schedule }: BatchDetails): string {
  const start =
    status === "SCHEDULED" && schedule.start_at ? `, it starts ${localTimeText(Date.parse(schedule.start_at))}` : "";
  return `${id} is ${paintedStatus(status)}${reason ? ` (${reason})` : ""}${start}`;
}

/** `█░ 120 of 297, 5 failed, 3 live, 12 to call again, 14.2/min, ends about …`. */
function progressText(batch: BatchDetails): string {
  const { WAITING = 0, CALLING = 0, COMPLETED = 0, FAILED = 0, CANCELLED = 0 } = batch.counts.by_status;
  const done = COMPLETED + FAILED + CANCELLED;
  const parts = [`${done} of ${done + WAITING + CALLING}`];
  if (FAILED > 0) parts.push(`${FAILED} failed`);
  if (CALLING > 0) parts.push(`${CALLING} live`);
  const retries = batch.counts.waiting_after.reduce((sum, { targets }) => sum + targets, 0);
  if (retries > 0) parts.push(`${retries} to call again`);
  return `${partBar(done, done + WAITING + CALLING)} ${parts.join(", ")}${rateText(batch)}${endText(batch)}`;
}

function rateText({ started_at, counts, status }: BatchDetails): string {
  const { COMPLETED = 0, FAILED = 0 } = counts.by_status;
  if (started_at === null || status !== "RUNNING" || COMPLETED + FAILED === 0) return "";
  const minutes = (Date.now() - Date.parse(started_at)) / 60_000;
  return minutes <= 0 ? "" : `, ${((COMPLETED + FAILED) / minutes).toFixed(1)}/min`;
}

function endText({ estimated_end_at }: BatchDetails): string {
  return estimated_end_at === null ? "" : `, ends about ${localTimeText(Date.parse(estimated_end_at)).slice(15, 20)}`;
}

/** The result of an ended batch, by status and reason. */
function endLines(batch: BatchDetails): string[] {
  const { counts, id } = batch;
  return [
    `${statusLine(batch)}: ${countsText(counts.by_status)}`,
    ...counts.by_reason.map(({ status, reason, targets }) => `  ${targets} ${paintedStatus(status)} ${reason}`),
    `Results as CSV: ringport batch results ${id} --csv`,
  ];
}

/** True if the batch ran to its end and reached every target. */
function hasReachedAll({ status, counts }: BatchDetails): boolean {
  const { FAILED = 0, CANCELLED = 0 } = counts.by_status;
  return status === "COMPLETED" && FAILED === 0 && CANCELLED === 0;
}
