import { escapedHtml } from '../../escape.ts';

const markup = Symbol('markup');

/** Markup that is safe to send: only `html` makes it. */
export interface Html {
  readonly [markup]: string;
}

/** What stands between the markup: text is escaped, lists are joined, nothing is left out. */
type Content = string | number | Html | Html[] | null | undefined | false;

/** Markup with its values escaped; in attributes it needs double quotes around them. */
export function html(words: TemplateStringsArray, ...contents: Content[]): Html {
  return { [markup]: String.raw({ raw: words }, ...contents.map(written)) };
}

/** The text of the markup. */
export function textOf(page: Html): string {
  return page[markup];
}

function written(content: Content): string {
  if (content === null || content === undefined || content === false) return '';
  if (Array.isArray(content)) return content.map(textOf).join('');
  return typeof content === 'object' ? content[markup] : escapedHtml(String(content));
}
