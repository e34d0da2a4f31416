import { escapedHtml } from '../../text/escape.ts';

const markup = Symbol('markup');

/** Markup that is safe to send; only `html` creates it. */
export interface Html {
  readonly [markup]: string;
}

/** A value in a template: text is escaped, lists are joined, null and false are left out. */
type Content = string | number | Html | Html[] | null | undefined | false;

/** Builds markup and escapes its values. In an attribute, put double quotes around a value. */
export function html(words: TemplateStringsArray, ...contents: Content[]): Html {
  return { [markup]: String.raw({ raw: words }, ...contents.map(written)) };
}

/** Turns markup into text to send. */
export function textOf(page: Html): string {
  return page[markup];
}

function written(content: Content): string {
  if (content === null || content === undefined || content === false) return '';
  if (Array.isArray(content)) return content.map(textOf).join('');
  return typeof content === 'object' ? content[markup] : escapedHtml(String(content));
}
