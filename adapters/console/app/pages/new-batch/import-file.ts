import type { ImportReport } from "../../../../../src/client/index.ts";
import { ConsoleError } from "../../shell/console-api.ts";
import { CONSOLE } from "../../shell/place.ts";
import type { ColumnChoice } from "./csv-preview.ts";
import { importFaultText } from "./file-fault-sentence.ts";

/**
 * Imports a file into a draft. The browser reads the file while sending it, so its size does not matter. Uses
 * `XMLHttpRequest`, because `fetch` reports no upload progress.
 * @param onProgress called with the share that has been sent, 0 to 1
 * @throws {ConsoleError}
 */
export function importFile(
  batchId: string,
  file: Blob,
  { phone, reference, variableColumns }: ColumnChoice,
  onProgress: (share: number) => void,
): Promise<ImportReport> {
  const query = new URLSearchParams({
    ...(phone !== undefined && { phone_column: phone }),
    ...(reference !== undefined && { reference_column: reference }),
    ...(variableColumns && { variable_columns: JSON.stringify(variableColumns) }),
  });
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const fail = (status: number, code: string, detail: string): void =>
      reject(new ConsoleError({ status, code, detail }, null));
    request.open("POST", `${CONSOLE}/v1/batches/${batchId}/targets?${query}`);
    request.setRequestHeader("content-type", "text/csv");
    request.responseType = "json";
    request.upload.onprogress = ({ loaded, total }) => onProgress(total === 0 ? 1 : loaded / total);
    request.onerror = () => fail(0, "network_error", "the server did not respond");
    request.onload = () => {
      const { status, response } = request;
      if (status === 200) return resolve(response as ImportReport);
      const { code = "unexpected_answer", detail, errors } = (response ?? {}) as Problem;
      fail(status, code, importFaultText(code, errors?.[0]?.detail ?? detail ?? `the server returned ${status}`));
    };
    request.send(file);
  });
}

interface Problem {
  readonly code?: string;
  readonly detail?: string;
  readonly errors?: readonly { readonly detail: string }[];
}
