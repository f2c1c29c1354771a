import type { SessionView } from "../../../api.ts";
import { Badge } from "../../components/badge.tsx";
import { Button } from "../../components/button.tsx";
import { Card } from "../../components/card.tsx";
import { Loaded } from "../../components/waiting.tsx";
import { dictionary } from "../../dictionary/dictionary.ts";
import en from "../../dictionary/en/account.ts";
import { formatRelative } from "../../dictionary/format.ts";
import pt from "../../dictionary/pt/account.ts";
import { consoleApi } from "../../shell/console-api.ts";
import { faultSentence } from "../../shell/fault-sentence.ts";
import { toast } from "../../shell/toasts.tsx";
import { useAction } from "../../shell/use-action.ts";
import { useData } from "../../shell/use-data.ts";
import { browserOf } from "./browser-name.ts";

const t = dictionary({ en, pt });

/** Lists the signed-in browsers. */
export function SessionsCard() {
  const sessions = useData((signal) => consoleApi.get<SessionView[]>("sessions", signal));
  const end = useAction(async (id: string) => {
    try {
      await consoleApi.delete(`sessions/${encodeURIComponent(id)}`);
      toast(t.value.sessions.ended);
    } catch (error) {
      toast(faultSentence(error), "bad");
    }
    await sessions.reload();
  });
  return (
    <Card title={t.value.sessions.title}>
      <Loaded data={sessions}>
        {(list) => (
          <ul class="items">
            {list.map(({ id, current, last_used_at, user_agent }) => {
              const name = nameOf(user_agent);
              return (
                <li key={id}>
                  <div class="grow">
                    <div class="row">
                      <strong>{name}</strong>
                      {current && <Badge tone="good">{t.value.sessions.current}</Badge>}
                    </div>
                    <div class="small quiet">{t.value.sessions.used(formatRelative(last_used_at))}</div>
                  </div>
                  {!current && (
                    <Button small variant="quiet" label={t.value.sessions.endNamed(name)} onClick={() => end.start(id)}>
                      {t.value.sessions.end}
                    </Button>
                  )}
                </li>
              );
            })}
          </ul>
        )}
      </Loaded>
    </Card>
  );
}

function nameOf(userAgent: string | null): string {
  const { browser, system } = browserOf(userAgent ?? "");
  if (browser === undefined) return userAgent?.slice(0, 60) || t.value.sessions.unknown;
  return system === undefined ? browser : t.value.sessions.on(browser, system);
}
