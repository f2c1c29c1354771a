/**
 * Points a page's relative links to a repository on the web: npm and JSR show the page without the repository's other
 * files. Links to anchors and to other sites stay, as do code blocks. Pictures are loaded as files.
 * @param base URL of the page's folder at a tag: `https://github.com/you/ringport/blob/v0.1.0`
 */
export function absoluteLinks(markdown: string, base: string): string {
  const blocks = markdown.split(/(^```[\s\S]*?^```$)/m);
  return blocks.map((block) => (block.startsWith("```") ? block : linked(block, base))).join("");
}

const linked = (text: string, base: string): string =>
  text
    .replace(/\]\((?![a-z][a-z0-9+.-]*:|#|\/)(?:\.\/)?([^)\s]+)\)/gi, `](${base}/$1)`)
    .replace(
      /(<img\b[^>]*\ssrc=")(?![a-z][a-z0-9+.-]*:|\/)(?:\.\/)?([^"]+)"/gi,
      `$1${base.replace("/blob/", "/raw/")}/$2"`,
    );
