import type { Answer, Client } from './http.ts';

/** A page in a browser without scripts: the answer and its forms. */
export interface Opened extends Answer {
  /** Submits the form with this action, with the form's own values and these fields. */
  submit(
    action: string,
    fields?: Record<string, string>,
    headers?: Record<string, string>,
  ): Promise<Opened>;
  /** The text, without markup. */
  text: string;
}

/** Opens a page with a client that keeps its cookies, following redirects. */
export async function open(client: Client, path: string): Promise<Opened> {
  return read(client, await follow(client, await client.get(path, { accept: 'text/html' })));
}

function read(client: Client, answer: Answer): Opened {
  const body = String(answer.body);
  return {
    ...answer,
    text: body.replace(/<style.*?<\/style>|<[^>]*>/gs, ' ').replace(/\s+/g, ' '),
    submit: async (action, fields = {}, headers = {}) => {
      const carried = carriedBy(body, action);
      return read(
        client,
        await follow(client, await client.form(action, { ...carried, ...fields }, headers), {
          ...carried,
          ...fields,
        }),
      );
    },
  };
}

/** The values in the first form with this action. */
function carriedBy(body: string, action: string): Record<string, string> {
  const form = body
    .split('<form ')
    .find((text) => new RegExp(`action="${action}(#[^"]*)?"`).test(text));
  if (form === undefined) throw new Error(`no form to ${action} in ${body}`);
  const fields = [
    ...(form.split('</form>')[0] ?? '').matchAll(/name="(\w+)"[^>]*? value="([^"]*)"/g),
  ];
  return Object.fromEntries(fields.map(([, name = '', value = '']) => [name, unescaped(value)]));
}

/** The value of an attribute as a browser reads it. */
function unescaped(value: string): string {
  const marks: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };
  return value.replace(/&(amp|lt|gt|quot|#39);/g, (_, mark) => marks[mark] ?? '');
}

/** Follows redirects: sends the same form after 307, and a GET after any other. */
async function follow(
  client: Client,
  answer: Answer,
  fields: Record<string, string> = {},
): Promise<Answer> {
  let at = answer;
  for (let step = 0; step < 6 && at.status >= 300 && at.status < 400; step += 1) {
    const location = String(at.headers['location']);
    if (!location.startsWith('/')) return at;
    const path = location.split('#')[0] ?? '';
    at =
      at.status === 307
        ? await client.form(path, fields)
        : await client.get(path, { accept: 'text/html' });
  }
  return at;
}
