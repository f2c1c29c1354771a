import { useEffect, useMemo } from "preact/hooks";
import type { Instance } from "../../../../../src/client/index.ts";
import { LinkButton } from "../../components/button.tsx";
import { CodeBlock } from "../../components/copy.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { FaultNotice, Skeleton } from "../../components/waiting.tsx";
import { dictionary } from "../../dictionary/dictionary.ts";
import en from "../../dictionary/en/calls.ts";
import pt from "../../dictionary/pt/calls.ts";
import { client } from "../../shell/client.ts";
import { onEvents, streamStarts } from "../../shell/live.ts";
import { href } from "../../shell/place.ts";
import { signedIn } from "../../shell/session.ts";
import { curlExample } from "../new-call/call-examples.ts";
import { EMPTY_FORM } from "../new-call/call-form.ts";
import { type CallListFilter, isFiltered, searchOf } from "./call-filter.ts";
import { CallGrid } from "./call-grid.tsx";
import { type CallSource, LiveCallList } from "./live-calls.ts";

const t = dictionary({ en, pt });

/** The live list of calls that match a filter. */
export function CallList({
  filter,
  instances,
}: {
  readonly filter: CallListFilter;
  readonly instances: readonly Instance[] | undefined;
}) {
  const key = searchOf(filter);
  const calls = useMemo(() => new LiveCallList(filter, accountCalls), [key]);
  useEffect(() => calls.start(), [calls]);
  const names = useMemo(() => new Map((instances ?? []).map(({ id, name }) => [id, name])), [instances]);

  const fault = calls.fault.value;
  const faultNotice = fault !== undefined && <FaultNotice error={fault} retry={() => void calls.loadMore()} />;
  if (!calls.isLoaded.value) return faultNotice || <Skeleton lines={8} />;
  if (calls.rows.value.length === 0 && calls.isComplete.value)
    return isFiltered(filter) ? <NoMatch /> : <NoCalls instances={instances} />;
  return (
    <div class="stack">
      <p class="quiet small" role="status">
        {t.value.count(calls.rows.value.length, calls.isComplete.value)}
      </p>
      <CallGrid
        rows={calls.rows}
        isComplete={calls.isComplete}
        instanceNames={names}
        onNearEnd={() => {
          if (calls.fault.peek() === undefined) void calls.loadMore();
        }}
      />
      {faultNotice}
      {!calls.isComplete.value && !faultNotice && <Skeleton lines={2} />}
    </div>
  );
}

function NoMatch() {
  const { noMatch, filters } = t.value;
  return (
    <EmptyState
      icon="call"
      title={noMatch.title}
      action={
        <LinkButton variant="quiet" to={href("/calls")}>
          {filters.clear}
        </LinkButton>
      }
    >
      {noMatch.text}
    </EmptyState>
  );
}

/** Explains how to place the first call, or how to get an instance that can call. */
function NoCalls({ instances }: { readonly instances: readonly Instance[] | undefined }) {
  const { none, place } = t.value;
  const activeInstance = instances?.find(({ status }) => status === "ACTIVE");
  if (instances !== undefined && !activeInstance)
    return (
      <EmptyState icon="call" title={none.title} action={<LinkButton to={href("/instances")}>{none.link}</LinkButton>}>
        {none.noInstance}
      </EmptyState>
    );
  const form = {
    ...EMPTY_FORM,
    instanceId: activeInstance?.id ?? "inst_…",
    phoneNumber: "+12025550100",
    text: "Hello.",
    voiceId: "en-US-1",
  };
  return (
    <div class="stack">
      <EmptyState icon="call" title={none.title} action={<LinkButton to={href("/calls/new")}>{place}</LinkButton>}>
        {none.text}
      </EmptyState>
      <CodeBlock label={none.curl} code={curlExample(form, signedIn.value?.api_url ?? location.origin)} />
    </div>
  );
}

/** The account's calls. */
const accountCalls: CallSource = { page: client.calls.page, onEvents, streamStarts };
