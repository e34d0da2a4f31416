import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Event } from '../../src/database/models/event.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { type Opened, open } from '../support/pages.ts';
import { team } from '../support/team.ts';

// Pages that show a secret once. A reload sends the form again, with the same fields.

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl({ limits: { enabled: 'off' } });
});
afterAll(() => idctl.close());

type Team = Awaited<ReturnType<typeof team>>;

const callback = 'https://wiki.test/callback';

/** Opens the path as an owner and sends the form, as it would be sent again by a reload. */
async function sending(
  { clients }: Team,
  path: string,
  action = path,
  fields: Record<string, string> = {},
) {
  const page = await open(clients.owner, path);
  const send = () => page.submit(action, fields);
  return { send, shown: await send() };
}

/** The last value to copy on a page, which follows a client ID. */
const secretIn = ({ body }: Opened) =>
  [...body.matchAll(/class="secret">([^<]+)</g)].at(-1)?.[1] ?? '';

/** The forms whose answer shows a secret, by what they create. */
const forms: Record<
  string,
  (all: Team) => Promise<{ send: () => Promise<Opened>; shown: Opened }>
> = {
  'a personal token': (all) => sending(all, '/', '/account/tokens', { name: 'Backups' }),
  'a new value of a personal token': async (all) => {
    await sending(all, '/', '/account/tokens', { name: 'Backups' });
    return sending(all, '/', '/account/tokens/regenerate');
  },
  'a SCIM token': (all) =>
    sending(all, `${at(all)}/directory`, `${at(all)}/directory/token/create`),
  'another SCIM token': async (all) => {
    await sending(all, `${at(all)}/directory`, `${at(all)}/directory/token/create`);
    return sending(all, `${at(all)}/directory/token`);
  },
  'a webhook': (all) =>
    sending(all, `${at(all)}/settings`, `${at(all)}/settings/webhooks`, {
      url: 'https://hook.test/in',
    }),
  'a new secret of a webhook': async (all) => {
    const { shown } = await sending(all, `${at(all)}/settings`, `${at(all)}/settings/webhooks`, {
      url: 'https://hook.test/in',
    });
    const [, path = ''] = /href="([^"]*\/webhooks\/[\w-]{36})"/.exec(shown.body) ?? [];
    return sending(all, path, `${path}/rotate`);
  },
  'an application': (all) => added(all),
  'a new secret of an application': async (all) => {
    const [, path = ''] =
      /href="([^"]*\/applications\/[\w-]+)"/.exec((await added(all)).shown.body) ?? [];
    return sending(all, `${path}/rotate`);
  },
  'a setup link': (all) =>
    sending(all, `${at(all)}/settings/setup-links`, undefined, { domain: 'true' }),
  'an invitation without mail': (all) =>
    sending(all, `${at(all)}/people/invite`, undefined, { emails: 'new@example.test' }),
};

const at = ({ org }: Team) => `/orgs/${org.slug}`;
const added = (all: Team) =>
  sending(all, `${at(all)}/applications/new`, undefined, { name: 'Wiki', redirectUris: callback });

describe('a reload of the page that shows', () => {
  test.each(Object.entries(forms))('%s does not create another', async (_what, open) => {
    const { send, shown } = await open(await team(idctl));
    const secret = secretIn(shown);
    expect([shown.status, secret]).toEqual([200, expect.stringMatching(/./)]);
    const before = await Event.count();
    const again = await send();
    expect(again.status).toBe(409);
    expect(again.text).toContain('This form was already sent, so nothing new was created.');
    expect(again.text).toContain(
      'is not shown again. If you did not store it, you need a new one.',
    );
    expect(again.body).not.toContain(secret);
    expect(await Event.count()).toBe(before);
    expect((await send()).status).toBe(409);
  });
});

test('a reload after an application was added shows the list, from which it gets a new secret', async () => {
  const all = await team(idctl);
  const { send, shown } = await added(all);
  const [, path = ''] = /href="([^"]*\/applications\/[\w-]+)"/.exec(shown.body) ?? [];
  const { text, body } = await send();
  expect(text).toContain(`Applications of ${all.org.name}`);
  expect(body).toContain(`<a href="${path}">Wiki</a>`);
});

test('the page opened again sends the same form as a new one', async () => {
  const all = await team(idctl);
  const first = await sending(all, '/', '/account/tokens', { name: 'Backups' });
  await first.send();
  const second = await sending(all, '/', '/account/tokens', { name: 'Backups' });
  expect(secretIn(second.shown)).toMatch(/^cos_pat_/);
  expect(secretIn(second.shown)).not.toBe(secretIn(first.shown));
});
