import { first } from './0001-first.ts';
import { ssoAttempts } from './0002-sso-attempts.ts';
import { projects } from './0004-projects.ts';
import { accessTokens } from './0005-access-tokens.ts';
import { twoFactor } from './0006-two-factor.ts';
import type { Migration } from './migration.ts';

/** Every migration in the order of release; append only. */
export const migrations: readonly Migration[] = [first, ssoAttempts, projects, accessTokens, twoFactor];
