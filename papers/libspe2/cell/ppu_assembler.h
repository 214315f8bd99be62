/* Instructions of the PPE that programs write in assembler: orders of memory, and the time base. Included before every
 * source of a PPE program. */
#ifndef __ASSEMBLER__
#define __pixel unsigned short
__asm__(".ifndef __seatmap_ppu_assembler\n"
        "__seatmap_ppu_assembler = 1\n"
        ".macro sync\n\tmfence\n.endm\n"
        ".macro hwsync\n\tmfence\n.endm\n"
        ".macro eieio\n\tmfence\n.endm\n"
        /* This processor keeps that order by itself. */
        ".macro lwsync\n.endm\n"
        ".macro isync\n.endm\n"
        /* The function keeps all registers; below the stack pointer the compiler may keep 128 bytes. */
        ".macro mftb register, number=268\n"
        "\tlea -136(%rsp), %rsp\n"
        "\tcall __seatmap_mftb\n"
        /* The upper half. */
        "\t.if \\number == 269\n"
        "\tshrq $32, (%rsp)\n"
        "\t.endif\n"
        "\tmov (%rsp), \\register\n"
        "\tlea 136(%rsp), %rsp\n"
        ".endm\n"
        ".macro mftbl register\n\tmftb \\register\n.endm\n"
        ".macro mftbu register\n\tmftb \\register, 269\n.endm\n"
        ".endif\n");
#endif
