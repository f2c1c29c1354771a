import type { ComponentChildren } from "preact";
import { useErrorBoundary } from "preact/hooks";
import { Button } from "../components/button.tsx";
import { Page } from "../components/page.tsx";
import { dictionary } from "../dictionary/dictionary.ts";
import en from "../dictionary/en/shell.ts";
import pt from "../dictionary/pt/shell.ts";

const t = dictionary({ en, pt });

/** Keeps the rest of the console working if a view throws. */
export function ErrorBoundary({ children }: { readonly children: ComponentChildren }) {
  const [error, again] = useErrorBoundary((thrown) => console.error(thrown));
  if (error === undefined) return <>{children}</>;
  return (
    <Page title={t.value.broken} lead={t.value.brokenLead}>
      <Button onClick={again}>{t.value.tryAgain}</Button>
    </Page>
  );
}
