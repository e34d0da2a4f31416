import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Idctl, openIdctl } from '../../support/idctl.ts';
import { application, browserOf, walk } from '../../support/relying-party.ts';

// A wrong authorization request goes back to its client with an error of the standard: in the query,
// or in the fragment for a response type with a token (OAuth 2.0 Multiple Response Types §5).

let idctl: Idctl;
let app: Awaited<ReturnType<typeof application>>;
beforeAll(async () => {
  idctl = await openIdctl();
  app = await application(idctl);
});
afterAll(() => idctl.close());

const bad: [params: Record<string, string>, error: string, where: 'search' | 'hash'][] = [
  [{ response_type: 'token' }, 'unsupported_response_type', 'hash'],
  [{ response_type: 'id_token' }, 'unsupported_response_type', 'hash'],
  [{ response_type: 'id_token token' }, 'unsupported_response_type', 'hash'],
  [{ response_type: 'code token' }, 'unsupported_response_type', 'hash'],
  [{ response_type: 'code id_token' }, 'unsupported_response_type', 'hash'],
  [{ response_type: 'code id_token token' }, 'unsupported_response_type', 'hash'],
  [{ response_type: 'token', response_mode: 'fragment' }, 'unsupported_response_type', 'hash'],
  [{ response_type: 'token', response_mode: 'query' }, 'invalid_request', 'search'],
  [{ response_type: 'token', response_mode: 'web_message' }, 'unsupported_response_mode', 'hash'],
  [{ response_type: 'token', response_mode: 'jwt' }, 'unsupported_response_mode', 'hash'],
  [{ response_type: 'none' }, 'unsupported_response_type', 'search'],
  [{ response_type: 'CODE' }, 'unsupported_response_type', 'search'],
  [{ response_type: '' }, 'invalid_request', 'search'],
  [{ response_mode: 'fragment' }, 'unsupported_response_mode', 'search'],
  [{ response_mode: 'web_message' }, 'unsupported_response_mode', 'search'],
  [{ response_mode: 'query.jwt' }, 'unsupported_response_mode', 'search'],
  [{ response_mode: 'constructor' }, 'unsupported_response_mode', 'search'],
  [{ scope: 'email' }, 'invalid_scope', 'search'],
  [{ scope: '' }, 'invalid_scope', 'search'],
  [{ scope: 'OPENID' }, 'invalid_scope', 'search'],
  [{ scope: 'openid\temail' }, 'invalid_scope', 'search'],
  [{ scope: 'openid  email' }, 'invalid_scope', 'search'],
  [{ scope: 'offline_access' }, 'invalid_scope', 'search'],
  [{ prompt: 'create' }, 'invalid_request', 'search'],
  [{ prompt: 'none login' }, 'invalid_request', 'search'],
  [{ max_age: 'soon' }, 'invalid_request', 'search'],
  [{ request: 'x' }, 'request_not_supported', 'search'],
  [{ request_uri: 'https://app.example.test/r' }, 'request_uri_not_supported', 'search'],
  [{ registration: '{}' }, 'registration_not_supported', 'search'],
];

test.each(bad)('%j goes back with the error %s', async (params, error, where) => {
  for (const browser of [idctl.client({ keepCookies: true }), await browserOf(idctl, app.email)]) {
    const back = new URL(await walk(browser, (await app.begin(params)).path));
    const answer = new URLSearchParams(back[where].slice(1));
    expect(back.origin + back.pathname).toBe('https://app.example.test/callback');
    expect(answer.get('error')).toBe(error);
    expect(answer.get('error_description')).toBeTruthy();
    expect([answer.get('state'), answer.get('iss')]).toEqual(['state', idctl.baseUrl]);
    expect(answer.get('code')).toBeNull();
  }
});

test('an error goes back in a form if the request asks for form_post', async () => {
  const { path } = await app.begin({ response_type: 'token', response_mode: 'form_post' });
  const browser = await browserOf(idctl, app.email);
  const page = await browser.get(`${path}&again=1`, { accept: 'text/html' });
  expect([page.status, String(page.headers['content-security-policy'])]).toEqual([
    200,
    expect.stringContaining("default-src 'none'"),
  ]);
  expect(page.body).toContain('value="unsupported_response_type"');
});
