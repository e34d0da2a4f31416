import { type Html, html } from './html.ts';
import { otherLinks } from './navigation.ts';
import type { Visit } from './page.ts';
import { postForm } from './parts.ts';

/** An entry of a list: a name, facts about it, and what can be done with it. */
interface Row {
  name: string;
  /** The page of the entry. */
  href?: string;
  /** The entry is at another site, which does not learn where the person comes from. */
  isElsewhere?: boolean;
  /** Beside the name. */
  mark?: Html | undefined;
  /** Text below the name. */
  text?: string | Html | null | undefined;
  /** Quiet lines below. */
  facts?: (string | false)[];
  /** Further parts, such as a form behind a summary. */
  more?: Html | false | undefined;
  /** A form or a link at the end of the row. */
  action?: Html | false | undefined;
}

/** A list of entries; for an empty one, the sentence `none`. */
export function rows(entries: Row[], none?: string): Html {
  if (entries.length === 0) return none === undefined ? html`` : html`<p class="quiet">${none}</p>`;
  return html`<ul class="rows">${entries.map(row)}</ul>`;
}

function row({ name, href, isElsewhere, mark, text, facts = [], more, action }: Row): Html {
  const lines = facts.filter((fact) => fact !== false && fact !== '');
  return html`<li>
<div><strong>${href === undefined ? name : html`<a href="${href}"${isElsewhere && html` rel="noreferrer"`}>${name}</a>`}</strong>${mark && html` ${mark}`}${text && html`<p>${text}</p>`}
${lines.map((fact) => html`<p class="quiet">${fact}</p>`)}
${more}</div>
${action}
</li>`;
}

/** Says how many entries a list leaves out; absent if none. */
export function andMore(more: number): Html | false {
  return more > 0 && html`<p class="quiet">and ${more} more</p>`;
}

/** A short word about an entry, beside its name. */
export function badge(word: string): Html {
  return html`<span class="badge">${word}</span>`;
}

/** A form that is only a button. */
export function button(
  visit: Pick<Visit, 'token'>,
  action: string,
  label: string,
  along: Record<string, string | undefined> = {},
): Html {
  return postForm(
    visit,
    action,
    html`<button class="small" type="submit">${label}</button>`,
    along,
  );
}

/** A link to the page that says what an operation ends, and asks for confirmation. */
export function endingLink(path: string, label: string, along?: Record<string, string>): Html {
  const href = along === undefined ? path : `${path}?${new URLSearchParams(along)}`;
  return html`<a class="button small danger" href="${href}">${label}</a>`;
}

/** Links to the previous and the next page of a list; `filter` has the other fields of the query. */
export function pageLinks(
  path: string,
  filter: Record<string, string | undefined>,
  { nextCursor, previousCursor }: { nextCursor: string | null; previousCursor: string | null },
): Html | null {
  if (nextCursor === null && previousCursor === null) return null;
  const link = (text: string, rel: string, at: Record<string, string>) => {
    const fields = Object.entries({ ...filter, ...at });
    const known = fields.filter((field): field is [string, string] => field[1] !== undefined);
    return html`<a href="${`${path}?${new URLSearchParams(known)}`}" rel="${rel}">${text}</a>`;
  };
  return otherLinks(
    ...(previousCursor === null ? [] : [link('Previous page', 'prev', { before: previousCursor })]),
    ...(nextCursor === null ? [] : [link('Next page', 'next', { cursor: nextCursor })]),
  );
}
