/** The word by which the scripts of zsh and fish ask, with the words of the line; no command, so no help lists it. */
export const asking = '__complete';

/** The word by which the script of bash asks: with the line as it is typed, and the part of it that bash replaces. */
export const askingBash = '__complete-bash';
