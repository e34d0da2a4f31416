import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { Agent, getGlobalDispatcher, setGlobalDispatcher } from 'undici';
import { expect, onTestFinished, test } from 'vitest';
import { createAuthority } from '../../support/certificates.ts';
import { counterpartMissing } from '../../support/counterpart.ts';
import { dialect } from '../../support/database.ts';
import { addWebhook, compare, expectNoFault } from '../../support/kills.ts';
import { openLedger, seededRandom } from '../../support/ledger.ts';
import { openLoad, type Stage, setStage } from '../../support/mixed-load.ts';
import { documentedNginx, startNginx } from '../../support/nginx.ts';
import { freePorts } from '../../support/ports.ts';

const kills = 12;
const proxied = { IDCTL_HTTP_TRUSTED_PROXIES: '127.0.0.1' };
// For a write that breaks off, the ledger needs a closed connection; nginx would answer 502.
const cutOff = 'error_page 502 @cut; location @cut { return 444; } location / {';

test.skipIf(dialect !== 'postgres' || counterpartMissing('nginx'))(
  '§8 three daemons behind nginx do each job once, and lose no write if one at a time is killed',
  async () => {
    const seed = Number(process.env['IDCTL_TEST_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
    const ledger = openLedger();
    const stage = await setStage({ ledger, random: seededRandom(seed) });
    const webhook = await addWebhook(stage);
    const [tls = 0, http = 0, ...ports] = await freePorts(5);
    const serve = (port: number) => stage.site.serve(proxied, port);
    const daemons = await Promise.all(ports.map(serve));
    await proxy(stage, { tls, http, daemons });
    const load = await openLoad(stage);

    // The load uses each single-use value twice at once, and nginx sends these to two daemons.
    const calm = load.start();
    await acknowledged(stage, 300);
    await calm();
    await compare(stage);
    expectNoFault(stage, `seed ${seed}, before the kills`);
    await expectEachOnce(stage, webhook.arrived);

    for (let kill = 0; kill < kills; kill += 1) {
      const at = kill % ports.length;
      const stopLoad = load.start();
      await acknowledged(stage, 20 + Math.floor(stage.random() * 40));
      process.kill(daemons[at]?.pid ?? 0, 'SIGKILL');
      // The other daemons still serve.
      await acknowledged(stage, 40);
      await daemons[at]?.stop();
      daemons[at] = await serve(ports[at] ?? 0);
      await stopLoad();
      await compare(stage);
      expectNoFault(stage, `seed ${seed}, kill ${kill + 1}`);
    }
    await webhook.expectAllDelivered();
    const { counts } = ledger;
    process.stdout.write(`${kills} kills of one of three daemons: ${JSON.stringify(counts)}\n`);
  },
  900_000,
);

/** Starts nginx in front of the daemons, and sends the load to nginx. */
async function proxy(
  stage: Stage,
  at: { tls: number; http: number; daemons: { url: string }[] },
): Promise<void> {
  const authority = await createAuthority(stage.site.folder);
  const { certFile, keyFile } = await authority.issue('DNS:localhost');
  const documented = documentedNginx({ ...at, certFile, keyFile });
  const nginx = await startNginx(documented.replace('location / {', cutOff), at.tls);
  onTestFinished(() => nginx.stop());
  const former = getGlobalDispatcher();
  const ca = await readFile(authority.caFile, 'utf8');
  const agent = new Agent({ connect: { ca, family: 4 } });
  setGlobalDispatcher(agent);
  onTestFinished(async () => {
    setGlobalDispatcher(former);
    await agent.close();
  });
  stage.url = `https://localhost:${at.tls}`;
  // nginx does so for all methods except POST and PATCH.
  stage.repeatsDelete = true;
}

/** Waits until `more` further writes are acknowledged. */
async function acknowledged({ ledger }: Stage, more: number): Promise<void> {
  const enough = ledger.counts.acknowledged + more;
  while (ledger.counts.acknowledged < enough && ledger.faults.length === 0) await pause(5);
}

/** Expects that each webhook message and each mail has arrived once. */
async function expectEachOnce(stage: Stage, arrived: { id: string }[]): Promise<void> {
  const waiting = async () => {
    const [row] = await stage.site.query(
      `SELECT (SELECT count(*) FROM webhook_deliveries WHERE status <> 'delivered')
        + (SELECT count(*) FROM outbox) AS count`,
    );
    return Number(row?.['count']);
  };
  await expect.poll(waiting, { timeout: 60_000 }).toBe(0);
  const queued = await stage.site.query('SELECT id FROM webhook_deliveries');
  expect(arrived.map(({ id }) => id).sort()).toEqual(queued.map(({ id }) => String(id)).sort());
  const mailed = stage.smtp.letters.map(({ to }) => to).filter((to) => to.startsWith('mail'));
  expect(mailed.length).toBeGreaterThan(0);
  expect(mailed.length).toBe(new Set(mailed).size);
}
