import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { run } from './tree.ts';

/**
 * Writes the CycloneDX bill of materials of the packages in a release. npm gives each bill a random
 * number and the current time. Here, the commit decides both.
 */
export function writeBill(sources: string, file: string, epoch: number): void {
  const words = ['sbom', '--sbom-format=cyclonedx', '--omit=dev', '--package-lock-only'];
  const bill = JSON.parse(run(sources, 'npm', ...words));
  bill.metadata.timestamp = new Date(epoch * 1000).toISOString();
  delete bill.serialNumber;
  const digest = createHash('sha256').update(JSON.stringify(bill)).digest('hex');
  const [, a, b, c, d, e] = /^(.{8})(.{4})(.{3})(.{3})(.{12})/.exec(digest) ?? [];
  bill.serialNumber = `urn:uuid:${a}-${b}-8${c}-8${d}-${e}`;
  writeFileSync(file, `${JSON.stringify(bill, null, 2)}\n`);
}
