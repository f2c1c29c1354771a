import type { BatchTarget } from "../../../../../src/client/index.ts";
import { client } from "../../shell/client.ts";

/** Saves a batch's targets with their results as a CSV file. @param status only targets with this status */
export async function downloadCsv(batchId: string, status?: BatchTarget["status"]): Promise<void> {
  const text = await client.batches.results(batchId, { status: status && [status] });
  // Spreadsheets read a file as UTF-8 only if it starts with this mark.
  const url = URL.createObjectURL(new Blob(["\ufeff", text], { type: "text/csv" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = `${batchId}${status ? `-${status.toLowerCase()}` : ""}.csv`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
