import { Refusal } from '../../errors.ts';
import { providerNames, type SocialProvider } from './providers.ts';

/** What is told of a sign-in that ended with this error; why a provider cannot be used is for the log alone (security S8). */
export function toldOutside(provider: SocialProvider, error: unknown): unknown {
  if (!(error instanceof Refusal) || error.kind !== 'upstream') return error;
  return new Refusal('provider_failed', `${providerNames[provider]} could not be used.`, {
    hint: 'Try again later, or sign in another way.',
    cause: error,
  });
}
