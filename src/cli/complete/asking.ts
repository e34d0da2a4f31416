/**
 * The first word with which the zsh and fish scripts call idctl; the words of the line follow. It
 * is not a command, so no help lists it.
 */
export const asking = '__complete';

/**
 * The first word with which the bash script calls idctl. The line as typed follows, and the part
 * that bash replaces.
 */
export const askingBash = '__complete-bash';
