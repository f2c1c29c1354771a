import { LinkButton } from "../components/button.tsx";
import { PageLayout } from "../components/page.tsx";
import { dictionary } from "../dictionary/dictionary.ts";
import en from "../dictionary/en/calls.ts";
import pt from "../dictionary/pt/calls.ts";
import { changeQuery, href, query } from "../shell/place.ts";
import { filterOf, queryOf } from "./calls/call-filter.ts";
import { CallList } from "./calls/call-list.tsx";
import { FilterBar } from "./calls/filter-bar.tsx";
import { useInstances } from "./calls/use-instances.ts";

const t = dictionary({ en, pt });

/** `/calls`: the live list of the account's calls. */
export default function Calls() {
  const instances = useInstances();
  const filter = filterOf(query.value.toString());
  const list = instances.value.value;
  return (
    <PageLayout
      title={t.value.title}
      lead={t.value.lead}
      actions={
        <LinkButton icon="plus" to={href("/calls/new")}>
          {t.value.place}
        </LinkButton>
      }
    >
      <div class="stack">
        <FilterBar filter={filter} instances={list ?? []} onChange={(next) => changeQuery(queryOf(next))} />
        <CallList filter={filter} instances={list} />
      </div>
    </PageLayout>
  );
}
