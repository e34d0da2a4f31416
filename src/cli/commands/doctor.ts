import type { Command } from 'commander';
import type { z } from 'zod';
import type { LoadedConfig } from '../../config/load.ts';
import type { diagnosisView, Patient } from '../../services/instance/doctor/diagnose.ts';
import { verb } from '../command.ts';
import { checkFileOwners } from '../file-owners.ts';
import {
  becomeInstanceOwner,
  databaseFile,
  type Flags,
  isDatabaseIdle,
  openOperator,
  readConfiguration,
} from '../operator.ts';
import { masked } from '../output.ts';
import { withProgress } from '../progress.ts';
import type { Call } from '../run.ts';
import { failedResult } from '../steps.ts';

export function addDoctorCommand(program: Command): void {
  verb(program, 'doctor', {
    summary: 'Find faults and name their fixes; exit 1 on a fault',
    options: {
      '--org <org>': 'check only this organization, by id or slug',
      '--confirm-clock':
        'after a jump of the clock: confirm that it is right, so that expired data is deleted',
    },
    example: 'idctl doctor --org acme',
    run: doctor,
  });
}

async function doctor(call: Call): Promise<void> {
  const { diagnose } = await import('../../services/instance/doctor/diagnose.ts');
  const { diagnoseInput } = await import('../../services/instance/doctor/diagnose.ts');
  const { parse } = await import('../../input.ts');
  const input = parse(diagnoseInput, call.input);
  const patient = await patientOf(call.flags);
  const diagnosis = await withProgress(() => diagnose(patient, input), !call.flags.quiet);
  if (!call.flags.json) return call.examination(asExamination(diagnosis));
  call.show(diagnosis, []);
  if (!diagnosis.ok) throw failedResult();
}

/** The instance to check. Each part opens separately, so that one fault hides no other. */
async function patientOf(flags: Flags): Promise<Patient> {
  const { openNetwork, openUnprepared } = await import('../../app.ts');
  return {
    readConfig: () => readConfiguration(flags),
    takeOver: async (loaded) => {
      const check = await checkFileOwners(loaded);
      // Must run before any file of the instance is opened (security X8).
      becomeInstanceOwner(loaded);
      return check;
    },
    database: ({ config }) => ({
      url: masked(config.database.url),
      file: databaseFile(config.database.url),
      open: () => openUnprepared(config),
    }),
    network: openNetwork,
    isIdle: isDatabaseIdle,
    open: async (loaded: LoadedConfig) => {
      const { app, run } = await openOperator(loaded);
      return { run, close: () => app.close() };
    },
  };
}

/** If one of these checks fails, the other checks still run. */
const ofNetwork = ['network', 'resolver', 'base URL', 'clock', 'mail'];

function asExamination({ ok, checks }: z.output<typeof diagnosisView>) {
  const failed = checks.filter((each) => !each.ok).map(({ name }) => name);
  const isWhole = checks.some((each) => each.name === 'stored secrets' && each.ok);
  const first = failed.filter((name) => !ofNetwork.includes(name)).join(' and the ');
  const rest = isWhole ? '' : ` Correct the ${first} to run the other checks.`;
  return {
    ok,
    message: ok ? 'No check failed.' : `${failed.length} of ${checks.length} checks failed.${rest}`,
    steps: checks.map(({ message, ...rest }) => ({ ...rest, seen: message })),
  };
}
