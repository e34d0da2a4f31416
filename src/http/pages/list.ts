import { accountPages } from './account/forms.ts';
import { directoryPages } from './login/directory.ts';
import { passwordPage } from './login/password.ts';
import { secondFactorPages } from './login/second-factor.ts';
import { signInPage } from './login/sign-in.ts';
import type { Page } from './page.ts';

/** Every page and every form of them, in one list. */
export const pages: Page[] = [
  signInPage,
  passwordPage,
  ...directoryPages,
  ...secondFactorPages,
  ...accountPages,
];
