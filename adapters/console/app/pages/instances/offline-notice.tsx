import type { InstanceDetails } from "../../../../../src/client/index.ts";
import { Button } from "../../components/button.tsx";
import { Notice } from "../../components/notice.tsx";
import { dictionary } from "../../dictionary/dictionary.ts";
import en from "../../dictionary/en/instances.ts";
import pt from "../../dictionary/pt/instances.ts";
import { useAction } from "../../shell/use-action.ts";
import { networkKind, operatorName } from "./network-kind.ts";

const t = dictionary({ en, pt });

type Connection = NonNullable<InstanceDetails["connection"]>;

/** Reason why a linked number currently cannot call, and the fix. */
export function OfflineNotice({
  connection,
  reload,
}: {
  readonly connection: Connection;
  readonly reload: () => Promise<void>;
}) {
  const reloadAction = useAction(reload);
  const { offline } = t.value;
  const { state, reason } = connection;
  if (state === "online" || state === "linking" || state === "unlinked") return null;
  if (state === "connecting" && reason === "connecting") return <Notice>{offline.connecting}</Notice>;
  return (
    <Notice tone={state === "offline" ? "bad" : "warn"}>
      <strong>{offline.title}</strong>
      <p>{offline[state]}</p>
      {reason !== null && (
        <p>
          {offline.reported} <q>{reason}</q>
        </p>
      )}
      <p>{fixOf(connection)}</p>
      <div>
        <Button small variant="quiet" busy={reloadAction.busy} onClick={() => reloadAction.start()}>
          {offline.checkAgain}
        </Button>
      </div>
    </Notice>
  );
}

/** The fix for the user, depending on the server's report and the network. */
function fixOf({ provider, reason }: Connection): string {
  const { fix } = t.value.offline;
  if (reason?.startsWith("no telephony")) return fix.unmounted(provider);
  if (reason?.startsWith("the line could not be opened")) return fix.failed;
  const kind = networkKind(provider);
  return kind === "trunk" ? fix.trunk(operatorName(provider)) : fix[kind];
}
