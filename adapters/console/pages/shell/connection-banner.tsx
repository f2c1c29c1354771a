import { dictionary } from "../dictionary/dictionary.ts";
import en from "../dictionary/en/shell.ts";
import pt from "../dictionary/pt/shell.ts";
import { connected } from "./connection.ts";

const t = dictionary({ en, pt });

/** Shown while the server does not answer. What the pages show may be outdated then. */
export function ConnectionBanner() {
  return (
    <div class="banner" role="status">
      {connected.value ? "" : t.value.disconnected}
    </div>
  );
}
