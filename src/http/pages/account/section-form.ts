import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { markNotice } from '../marks.ts';
import {
  form,
  operationForm,
  type Page,
  type PageOperation,
  type PageReply,
  type Visit,
} from '../page.ts';
import { showAccount } from './overview.ts';
import type { SectionName } from './section.ts';

/** A form of a section. If the form is refused, the account page shows the reason there. */
export function sectionForm<Input extends z.ZodObject>(
  section: SectionName,
  path: string,
  input: Input,
  act: (visit: Visit, input: z.output<Input>) => Promise<PageReply>,
): Page {
  return form({
    path: `/account/${path}`,
    access: 'person',
    input,
    act,
    refused: (visit) => showAccount(visit, section, `/account/${path}`),
  });
}

/** A form of a section that runs one of the person's own operations; `reply` replies. */
export function ownForm<Input extends z.ZodObject, View>(
  section: SectionName,
  path: string,
  operation: PageOperation<Input, View>,
  reply: (visit: Visit, view: View) => Promise<PageReply> | PageReply,
): Page {
  const at = `/account/${path}`;
  const refused = (visit: Visit) => showAccount(visit, section, at);
  return operationForm(at, operation, { reply, refused });
}

/** Redirects to the section, which shows the notice `done`. */
export const back = (visit: Visit, done: string, section: SectionName): PageReply => ({
  goTo: `/?done=${markNotice(visit, done)}#${section}`,
});

/** A form that runs an operation, and shows its section again with the notice `done`. */
export function changeForm<Input extends z.ZodObject>(
  section: SectionName,
  path: string,
  input: Input,
  change: (ctx: Context, input: z.output<Input>) => Promise<unknown>,
  done: string,
): Page {
  return sectionForm(section, path, input, async (visit, given) => {
    await change(visit.ctx, given);
    return back(visit, done, section);
  });
}
