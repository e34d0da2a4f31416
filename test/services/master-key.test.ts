import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { beforeEach, describe, expect, test } from 'vitest';
import { createKeyFile, readKeyFile } from '../../src/crypto/key-file.ts';
import { createKeyring, sealedPrefix } from '../../src/crypto/seal.ts';
import { Account } from '../../src/database/models/account.ts';
import { Event } from '../../src/database/models/event.ts';
import { LdapConnection } from '../../src/database/models/ldap-connection.ts';
import { SsoConnection } from '../../src/database/models/sso-connection.ts';
import { Webhook } from '../../src/database/models/webhook.ts';
import { transaction } from '../../src/database/transaction.ts';
import { followMasterKey, requireRightKey } from '../../src/services/foundation/keys/open.ts';
import {
  foreseeMasterKey,
  listKeys,
  rotateMasterKey,
} from '../../src/services/foundation/keys/operations.ts';
import { sealedColumns } from '../../src/services/foundation/keys/reseal.sql.ts';
import { forgetKeys } from '../../src/services/foundation/keys/signing-key.ts';
import { sweepExpired } from '../../src/services/instance/upkeep.ts';
import {
  openTotpSecret,
  sealTotpSecret,
} from '../../src/services/people/two-factor/second-factor.ts';
import { openBindPassword } from '../../src/services/tenancy/connections/ldap.ts';
import { openClientSecret } from '../../src/services/tenancy/connections/sso.ts';
import { rotateWebhook } from '../../src/services/tenancy/webhooks/operations.ts';
import { signingSecrets } from '../../src/services/tenancy/webhooks/webhook.ts';
import { type Company, foundCompany } from '../support/company.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';

const totp = 'JBSWY3DPEHPK3PXP';

let idctl: Idctl;
let company: Company;
beforeEach(async () => {
  idctl = await openIdctl();
  company = await foundCompany(idctl);
  await transaction(() =>
    Account.update(
      { totpSecret: sealTotpSecret(idctl.operator(), company.member.id, totp) },
      { where: { id: company.member.id } },
    ),
  );
  await rotateWebhook(idctl.operator(), { org: 'acme', id: company.webhook });
  return () => idctl.close();
});

const rotate = (prepare = false) => rotateMasterKey(idctl.operator(), { prepare });
const keyFile = () => idctl.app.config.keyFile;
const lines = async () =>
  (await readFile(keyFile(), 'utf8')).split('\n').filter((line) => /^[^#]/.test(line));
const rows = async () => {
  const models = Object.values(Account.sequelize?.models ?? {});
  return JSON.stringify(await Promise.all(models.map((model) => model.findAll({ raw: true }))));
};
/** The number of values in the database that this key has sealed, including its canary. */
const sealedBy = async (keyId: string) => (await rows()).split(sealedPrefix(keyId)).length - 1;

/** All sealed secrets of the company, opened. */
async function secrets() {
  const ctx = idctl.operator();
  const found = { rejectOnEmpty: true } as const;
  const account = await Account.findByPk(company.member.id, found);
  return [
    openClientSecret(ctx, await SsoConnection.findOne(found)),
    openBindPassword(ctx, await LdapConnection.findOne(found)),
    openTotpSecret(ctx, account.id, account.totpSecret ?? ''),
    ...signingSecrets(ctx, await Webhook.findByPk(company.webhook, found)),
  ];
}

describe('X1 `key rotate master`', () => {
  test('X1 seals every secret again with the new key; each secret still opens, and sessions continue', async () => {
    const before = await secrets();
    const { keyId: former } = idctl.app.keyring;
    const made = await rotate();
    expect(made).toEqual({ id: idctl.app.keyring.keyId, state: 'rotated', former, resealed: 6 });
    expect(made.id).not.toBe(former);
    forgetKeys(idctl.operator());
    expect(await secrets()).toEqual(before);
    expect((await company.owner.get('/api/v1/me')).status).toBe(200);
    // Each key has sealed its own canary.
    expect([await sealedBy(former), await sealedBy(made.id)]).toEqual([1, 7]);
    const [event] = await Event.findAll({ where: { kind: 'key.master.rotated' } });
    expect(event).toMatchObject({ subject: { type: 'key', id: made.id }, data: { former } });
    const { items } = await listKeys(idctl.operator(), { limit: 1 });
    expect(items.slice(0, 2)).toMatchObject([
      { id: former, purpose: 'master', state: 'opens' },
      { id: made.id, purpose: 'master', state: 'seals' },
    ]);
  });

  test('X1 X8 leaves the new and the former key in the key file, which only its owner can read; an older key is deleted', async () => {
    const [first] = await lines();
    const { former } = await rotate();
    const [second, ...kept] = await lines();
    expect(kept).toEqual([first]);
    const plan = await foreseeMasterKey(idctl.operator(), { prepare: false });
    const current = idctl.app.keyring.keyId;
    expect(plan).toEqual({ state: 'rotated', former: current, leaving: [former] });
    await rotate();
    expect((await lines()).slice(1)).toEqual([second]);
    expect((await stat(keyFile())).mode & 0o777).toBe(0o600);
    expect((await readFile(keyFile(), 'utf8')).startsWith('# ')).toBe(true);
  });

  test('X1 X3 a start needs the key in use; the old key alone is refused, and the order of lines does not matter', async () => {
    const [former = ''] = await lines();
    await rotate();
    const now = new Date();
    const start = async () =>
      requireRightKey({
        keyring: createKeyring(await readKeyFile(keyFile())),
        keyFile: keyFile(),
        now,
      });
    const [current = ''] = await lines();
    await start();
    await writeFile(keyFile(), `${former}\n${current}\n`);
    await start();
    await writeFile(keyFile(), `${former}\n`);
    await expect(start()).rejects.toMatchObject({
      code: 'key_invalid',
      message: expect.stringContaining('is not the key of this database'),
    });
  });

  test('X1 continues with the key that a prepared or interrupted rotation left in the file', async () => {
    const { id } = await rotate(true);
    expect(idctl.app.keyring.keyId).not.toBe(id);
    expect(await lines()).toHaveLength(2);
    expect((await rotate(true)).id).toBe(id);
    expect(await sealedBy(id)).toBe(0);
    expect(await rotate()).toMatchObject({ id, state: 'rotated', resealed: 6 });
    expect(await lines()).toHaveLength(2);
  });

  test('X1 if interrupted half-way, leaves every secret readable; the next rotation or sweep completes it without another key', async () => {
    const before = await secrets();
    const account = await Account.findByPk(company.member.id, { rejectOnEmpty: true });
    const { totpSecret } = account;
    const putBack = () =>
      transaction(() => Account.update({ totpSecret }, { where: { id: company.member.id } }));
    const { id } = await rotate();
    await putBack();
    expect(await secrets()).toEqual(before);
    expect(await rotate()).toEqual({ id, state: 'finished', former: null, resealed: 1 });
    await putBack();
    await sweepExpired(idctl.operator());
    expect(await secrets()).toEqual(before);
    expect(await sealedBy(id)).toBe(7);
  });

  test('X1 lets another process open secrets sealed with the new key at once, and then seal with it', async () => {
    const keys = () => createKeyring(reader(), reader);
    let file = await readKeyFile(keyFile());
    const reader = () => file;
    const other = { ...idctl.operator(), keyring: keys() };
    const former = other.keyring.keyId;
    const { id } = await rotate();
    const [sso] = await SsoConnection.findAll();
    if (sso === undefined) throw new Error('there is none');
    expect(() => openClientSecret(other, sso)).toThrow(`sealed by key ${id}`);
    file = await readKeyFile(keyFile());
    expect(openClientSecret(other, sso)).toBe('s');
    expect(other.keyring.keyId).toBe(former);
    await followMasterKey(other);
    expect(other.keyring.keyId).toBe(id);
  });

  test('X3 is refused if the key file lacks the key in use, and changes nothing', async () => {
    const before = await rows();
    await createKeyFile(`${keyFile()}.other`);
    await writeFile(keyFile(), await readFile(`${keyFile()}.other`));
    await expect(rotate()).rejects.toMatchObject({ code: 'key_invalid' });
    expect(await rows()).toBe(before);
  });
});

test('X1 a rotation seals every column with sealed values again', async () => {
  const folder = new URL('../../src/services/', import.meta.url);
  const files = (await readdir(folder, { recursive: true })).filter((file) => file.endsWith('.ts'));
  const named: string[] = [];
  for (const file of files.filter((one) => !one.endsWith('reseal.sql.ts'))) {
    const text = await readFile(new URL(file, folder), 'utf8');
    // If the table has several such columns, the type `Column` lists them.
    const several = [...(/^type Column = (.*);$/m.exec(text)?.[1] ?? '').matchAll(/'(\w+)'/g)];
    const here = [...text.matchAll(/table: '(\w+)',\s*column(?:: '(\w+)')?/g)].flatMap(
      ([, table, one]) =>
        (one === undefined ? several.map(([, each]) => each) : [one]).map(
          (column) => `${table}.${column}`,
        ),
    );
    if (/\bPlace\b.* from .*crypto\/seal/.test(text))
      expect(here, `${file} names the columns it seals for`).not.toEqual([]);
    named.push(...here);
  }
  const resealed = sealedColumns.map(({ table, column }) => `${table}.${column}`);
  expect(named.sort()).toEqual(['key_canaries.sealed', ...resealed].sort());
});
