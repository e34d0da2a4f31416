import { afterAll, beforeAll, expect, test } from 'vitest';
import { Organization } from '../../../src/database/models/organization.ts';
import { addCrowd } from '../../support/crowd.ts';
import { type Installation, install } from '../../support/installation.ts';
import {
  type BothKinds,
  interruptions,
  killAndRunAgain,
  otherKind,
  startBothKinds,
} from '../../support/move.ts';

const crowd = 2000;
const kills = 40;

let site: Installation;
let both: BothKinds;
beforeAll(async () => {
  both = await startBothKinds();
  let organization = '';
  site = await install({
    prepare: async () => {
      organization = (await Organization.findAll())[0]?.id ?? '';
    },
  });
  await addCrowd(site.database, organization, crowd);
});
afterAll(async () => {
  await site?.close();
  await both?.stop();
});

test('forty moves, each killed at some statement and run again, leave all data in one place', async () => {
  const { statements, begin } = await interruptions(site, both, otherKind);
  for (let kill = 0; kill < kills; kill += 1) {
    // Half of the kills are near the end, where the instance switches to the new database.
    const from = kill % 2 === 0 ? 1 : statements - 30;
    const killAt = from + Math.floor(Math.random() * (statements - from + 1));
    const move = await begin();
    await killAndRunAgain(move, killAt);
    const [row] = await site.query('SELECT count(*) AS n FROM accounts', move.to);
    expect([killAt, Number(row?.['n'])]).toEqual([killAt, crowd + 1]);
  }
}, 1_200_000);

test('a move that is killed twenty times on its own partial copy still succeeds', async () => {
  const { statements, begin } = await interruptions(site, both, otherKind);
  const move = await begin();
  for (let kill = 0; kill < 20; kill += 1)
    await move.run(1 + Math.floor(Math.random() * statements));
  expect((await move.run()).code).toBe(0);
  const { from, to } = await move.look();
  expect([from.code, to.code]).toEqual([3, 0]);
}, 600_000);
