import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Daemon } from '../support/daemon.ts';
import { createClient } from '../support/http.ts';
import { type Installation, install } from '../support/installation.ts';
import { freePorts } from '../support/ports.ts';

let site: Installation;
let daemon: Daemon;
let metricsUrl: string;

beforeAll(async () => {
  site = await install();
  const [port] = await freePorts(1);
  metricsUrl = `http://127.0.0.1:${port}`;
  daemon = await site.serve({ IDCTL_METRICS_LISTEN: `127.0.0.1:${port}` });
  const client = createClient(daemon.url);
  const signIn = (password: string) =>
    client.post('/api/v1/auth/login', { ...site.owner, password });
  const { accessToken } = (await signIn(site.owner.password)).body;
  await signIn('not the password');
  await client.get('/api/v1/orgs/acme', { authorization: `Bearer ${accessToken}` });
  await client.get('/api/v1/orgs/stranger-org');
  await client.get('/no/such/place');
  await client.send(
    'DELETE',
    '/scim/v2/orgs/0198c0de-0000-7000-8000-000000000000/users/someone?a=b',
  );
}, 60_000);
afterAll(() => site?.close());

const scrape = async () => (await createClient(metricsUrl).get('/metrics')).body as string;

test('metrics are served only on their own listener, in the Prometheus format', async () => {
  const answer = await createClient(metricsUrl).get('/metrics');
  expect(answer).toMatchObject({
    status: 200,
    headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' },
  });
  expect((await createClient(metricsUrl).get('/')).status).toBe(404);
  expect((await createClient(metricsUrl).post('/metrics')).status).toBe(404);
  expect((await createClient(daemon.url).get('/metrics')).status).toBe(404);

  // In text format 0.0.4, a family's TYPE line precedes its samples, and a series appears once.
  const families = new Set<string>();
  const series = new Set<string>();
  for (const line of String(answer.body).split('\n')) {
    const [, type] = /^# TYPE (\w+) (?:counter|gauge|histogram|summary)$/.exec(line) ?? [];
    if (type !== undefined) families.add(type);
    if (line === '' || /^# (TYPE|HELP) /.test(line)) continue;
    const [, name = '', labels = ''] =
      /^(\w+)((?:\{(?:\w+="(?:[^"\\]|\\.)*",?)*\})?) (?:[-\d.e+]+|NaN|[+-]Inf)$/.exec(line) ?? [];
    expect([
      line,
      families.has(name) || families.has(name.replace(/_(bucket|sum|count)$/, '')),
    ]).toEqual([line, true]);
    expect(series.has(name + labels)).toBe(false);
    series.add(name + labels);
  }
});

test('requests are counted by route, method and status class', async () => {
  await expect.poll(scrape).toContain('route="other"');
  const text = await scrape();
  const count = (labels: string) => `idctl_http_request_duration_seconds_count{${labels}} 1\n`;
  expect(text).toContain(count('method="GET",route="/api/v1/orgs/:org",status="2xx"'));
  expect(text).toContain(count('method="GET",route="/api/v1/orgs/:org",status="4xx"'));
  expect(text).toContain(count('method="POST",route="/api/v1/auth/login",status="2xx"'));
  expect(text).toContain(
    count('method="DELETE",route="/scim/v2/orgs/:org/Users/:id",status="4xx"'),
  );
});

test('sign-ins are counted by method and outcome', async () => {
  const text = await scrape();
  expect(text).toContain('idctl_sign_ins_total{method="password",outcome="succeeded"} 1\n');
  expect(text).toContain('idctl_sign_ins_total{method="password",outcome="refused"} 1\n');
});

test('metrics cover the process, the database and the backlog', async () => {
  const text = await scrape();
  for (const sample of [
    /^idctl_build_info\{version="\d+\.\d+\.\d+",node="v\d+[\d.]+"\} 1$/m,
    /^idctl_database_up 1$/m,
    /^idctl_database_connections\{state="waiting"\} 0$/m,
    /^idctl_password_hashes\{state="waiting"\} 0$/m,
    /^idctl_backlog\{to="webhook"\} 0$/m,
    /^idctl_backlog\{to="mail"\} 0$/m,
    /^nodejs_eventloop_lag_p99_seconds [\d.e-]+$/m,
    /^process_resident_memory_bytes \d+$/m,
  ]) {
    expect(text).toMatch(sample);
  }
});

test('X4 metrics name no person and contain nothing that a client sent', async () => {
  const text = await scrape();
  const [account] = await site.query('SELECT id FROM accounts');
  for (const word of [
    'acme',
    'stranger-org',
    'olga',
    'such',
    'someone',
    '0198c0de',
    String(account?.['id']),
  ]) {
    expect(text).not.toContain(word);
  }
});
