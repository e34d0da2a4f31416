import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { orderedId } from '../../src/crypto/id.ts';
import { Daemon } from '../../src/database/models/daemon.ts';
import { Event } from '../../src/database/models/event.ts';
import { Session } from '../../src/database/models/session.ts';
import { Sweep } from '../../src/database/models/sweep.ts';
import { execute } from '../../src/database/select.ts';
import { transaction } from '../../src/database/transaction.ts';
import { createMetrics } from '../../src/http/metrics.ts';
import { createLog } from '../../src/log/log.ts';
import { confirmClock } from '../../src/services/foundation/clock/clock.ts';
import { announceDaemon } from '../../src/services/instance/daemons.ts';
import { checkSweep } from '../../src/services/instance/doctor/sweep.ts';
import { deliverMail } from '../../src/services/instance/mail/deliver.ts';
import { showStatus } from '../../src/services/instance/status.ts';
import { sweepExpired } from '../../src/services/instance/upkeep.ts';
import { tellClients } from '../../src/services/signin/provider/sign-outs.ts';
import { deliverWebhooks } from '../../src/services/tenancy/webhooks/delivery/deliver.ts';
import { password, person, signedIn } from '../support/builders.ts';
import { foundCompany } from '../support/company.ts';
import { addExpiring, findLosses, listKeys, tablesWithAge } from '../support/expiring.ts';
import { hintLike } from '../support/hints.ts';
import { createClient } from '../support/http.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { runMigration } from '../support/migration.ts';

const hour = 3600;
const day = 24 * hour;
const wrongBy = 500 * day;

let idctl: Idctl;
beforeEach(async () => {
  idctl = await openIdctl({
    mail: { smtpUrl: 'smtp://127.0.0.1:9' },
    outbound: { allow: ['127.0.0.1'] },
  });
});
afterEach(() => idctl.close());

const system = () => idctl.as({ kind: 'system', name: 'sweep' });
const sweep = () => sweepExpired(system());
const sweptAt = async () => (await Sweep.findOne({ rejectOnEmpty: true })).sweptAt.getTime();
const checkNow = () => checkSweep(idctl.operator());

/** Runs every job that deletes, with the current clock of the instance. */
async function runJobs(): Promise<void> {
  const turn = { stop: new AbortController().signal, anew: system };
  const configuration = { file: '', digest: '', restDigest: '' };
  const daemon = { id: orderedId(), listen: 'http://127.0.0.1:2', configuration, proxy: null };
  await announceDaemon(system(), daemon);
  await sweep();
  await deliverMail(system(), turn);
  await deliverWebhooks(system(), turn);
  await tellClients(system(), turn);
}

/** Waits for a day as a daemon does that sweeps, although less often. */
async function runForADay(): Promise<void> {
  for (let hours = 0; hours < 24; hours += 6) {
    idctl.wait(6 * hour);
    await runJobs();
  }
}

test('X5 a clock 500 days ahead erases nothing in any table until it has run for 24 hours without a jump', async () => {
  const company = await foundCompany(idctl);
  await addExpiring(company);
  await sweep();
  const before = await listKeys();
  expect(before.get('events')?.length).toBeGreaterThan(20);
  idctl.wait(wrongBy);
  // Sign-ins and the start of a daemon write events with the wrong clock.
  await signedIn(idctl, company.owner.email);
  for (const _ of [1, 2]) {
    await runJobs();
    expect(await findLosses(before)).toEqual([]);
    idctl.wait(hour);
  }
  // The rows had expired by the wrong clock: once the sweep resumes, it deletes them.
  await runForADay();
  expect(await findLosses(before)).toEqual(expect.arrayContaining(tablesWithAge));
});

test('X5 a session that a wrong clock shows as expired is alive again once the clock is right', async () => {
  const { email } = await person(idctl);
  const browser = await signedIn(idctl, email);
  const alive = async () => (await browser.get('/api/v1/me')).status;
  const renew = async () => (await browser.post('/api/v1/auth/refresh')).status;
  await sweep();
  idctl.wait(wrongBy);
  expect([await alive(), await renew()]).toEqual([401, 401]);
  await runJobs();
  idctl.wait(-wrongBy);
  expect([await alive(), await renew(), await alive()]).toEqual([200, 200, 200]);
  // The sweep goes on immediately, and the next jump is noticed too.
  const before = await sweptAt();
  await sweep();
  expect(await sweptAt()).toBeGreaterThanOrEqual(before);
  expect((await checkNow()).ok).toBe(true);
  idctl.wait(wrongBy + hour);
  await sweep();
  expect(await Session.count()).toBe(1);
});

test('X5 of two daemons of one database, the one with the right clock sweeps, and the other one never does', async () => {
  await person(idctl);
  await sweep();
  const events = await Event.count();
  // For two days, both daemons sweep, and the wrong one writes events.
  for (let hours = 0; hours < 48; hours += 4) {
    idctl.wait(wrongBy);
    await person(idctl);
    await sweep();
    idctl.wait(4 * hour - wrongBy);
    const { now } = system();
    await sweep();
    expect(Math.abs((await sweptAt()) - now.getTime())).toBeLessThan(60_000);
  }
  expect(await Event.count()).toBe(events + 12);
}, 60_000);

test('X5 doctor names a daemon whose clock is far ahead, until the daemon has ended', async () => {
  const ahead = new Date(Date.now() + wrongBy * 1000);
  const daemon = { host: 'db2', listen: 'http://127.0.0.1:3', configFile: '', configDigest: '' };
  await transaction(() => Daemon.create({ id: orderedId(), ...daemon, seenAt: ahead }));
  expect(await checkNow()).toMatchObject({
    ok: false,
    message: 'the clock of the daemon at http://127.0.0.1:3 on db2 is 500 days ahead of this one',
    hint: 'Set the clocks of db2 and of this machine with NTP.',
  });
  await sweep();
  expect((await checkNow()).ok).toBe(true);
});

test('X5 a clock that is far behind deletes nothing, and does not keep a right clock from sweeping', async () => {
  await sweep();
  const before = await sweptAt();
  idctl.wait(-wrongBy);
  await sweep();
  expect(await sweptAt()).toBe(before);
  expect((await checkNow()).message).toContain('500 days behind the last sweep');
  idctl.wait(wrongBy);
  await sweep();
  expect(await sweptAt()).toBeGreaterThan(before);
});

test('X5 a clock that was wrong for long enough to sweep is noticed when it jumps back, and when it jumps again', async () => {
  idctl.wait(wrongBy);
  await sweep();
  await runForADay();
  const wrong = await sweptAt();
  idctl.wait(-wrongBy);
  await person(idctl);
  await sweep();
  expect(await sweptAt()).toBe(wrong);
  await runForADay();
  expect(await sweptAt()).toBeLessThan(wrong);
  const events = await Event.count();
  idctl.wait(wrongBy);
  await sweep();
  expect(await Event.count()).toBe(events);
});

test('X5 an instance that was off for months sweeps after 24 hours of running, or when the clock is confirmed', async () => {
  const { email } = await person(idctl);
  await signedIn(idctl, email);
  await sweep();
  idctl.wait(90 * day);
  await sweep();
  expect(await Session.count()).toBe(1);
  expect((await checkNow()).message).toMatch(
    /^this clock \(.+Z\) is 90 days ahead of the last sweep \(.+Z\), so nothing expired is deleted$/,
  );
  expect(await confirmClock(idctl.operator())).toBe(true);
  expect((await checkNow()).ok).toBe(true);
  await sweep();
  expect(await Session.count()).toBe(0);
  const event = await Event.findOne({ where: { kind: 'clock.confirmed' }, rejectOnEmpty: true });
  expect(event.actor.kind).toBe('operator');
  // Without a jump there is nothing to confirm.
  expect(await confirmClock(idctl.operator())).toBe(false);
  expect(await Event.count({ where: { kind: 'clock.confirmed' } })).toBe(1);
});

test('X5 only the operator confirms a clock', async () => {
  idctl.wait(wrongBy);
  await expect(confirmClock(system())).rejects.toThrow();
  expect((await checkNow()).ok).toBe(false);
});

test('X5 if daemons did not sweep for a month, events of that time show that the clock is right', async () => {
  const { email } = await person(idctl);
  await signedIn(idctl, email);
  await sweep();
  for (let days = 0; days < 35; days += 5) {
    idctl.wait(5 * day);
    await idctl.client().post('/api/v1/auth/login', { email, password });
  }
  const sessions = await Session.count();
  await sweep();
  expect(await Session.count()).toBeLessThan(sessions);
});

test('X5 the log, status, the metrics and doctor name the jump and what to do', async () => {
  await sweep();
  idctl.wait(wrongBy);
  const lines: string[] = [];
  const log = createLog({ log: { level: 'warn' } }, { write: (line: string) => lines.push(line) });
  await sweepExpired({ ...system(), log });
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    expect.objectContaining({
      level: 'warn',
      msg: 'the clock jumped, so nothing expired is deleted; the check named sweep says what to do',
      reason: expect.stringMatching(/^the clock says .+Z, and the last sweep was at .+Z$/),
    }),
  ]);
  const metrics = createMetrics(idctl.app);
  await metrics.listen('127.0.0.1:0');
  onTestFinished(() => metrics.close());
  const held = async () => {
    const { body } = await createClient(metrics.url ?? '').get('/metrics');
    return /^idctl_sweep_held (\d)$/m.exec(String(body))?.[1];
  };
  expect(await held()).toBe('1');
  const { hint } = await checkNow();
  expect(hint).toEqual(
    hintLike(
      /^If this clock is wrong, set it with NTP\. If it is right, the daemon deletes again after .+Z\. Or confirm the clock: idctl doctor --confirm-clock$/,
    ),
  );
  const { problems } = await showStatus(idctl.operator(), { idle: true });
  expect(problems.join('\n')).toContain('500 days ahead of the last sweep');
  idctl.wait(-wrongBy);
  expect(await held()).toBe('0');
});

test('X5 after the upgrade of an older idctl, the newest event counts as the last sweep', async () => {
  const { email } = await person(idctl);
  await signedIn(idctl, email);
  await transaction(() => execute('DROP TABLE sweeps', []));
  await runMigration('0041-sweeps');
  const newest = await Event.findOne({ order: [['id', 'DESC']], rejectOnEmpty: true });
  expect(await sweptAt()).toBe(newest.at.getTime());
});
