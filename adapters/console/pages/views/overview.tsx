import { Page } from "../components/page.tsx";
import { dictionary } from "../dictionary/dictionary.ts";
import en from "../dictionary/en/overview.ts";
import pt from "../dictionary/pt/overview.ts";

const t = dictionary({ en, pt });

export default function Overview() {
  return <Page title={t.value.title} lead={t.value.lead} />;
}
