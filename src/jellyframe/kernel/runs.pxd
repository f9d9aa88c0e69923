# The functions of runs.py for the compiled kernel. They are inline, so that a memoryview passed to one is not copied.
# Only these pass addresses to functions of C, and each checks its whole range first.

cimport cython
from libc.string cimport memcmp, memcpy


cdef inline int require_range(Py_ssize_t length, Py_ssize_t start, Py_ssize_t n) except -1:
    if start < 0 or n < 0 or n > length - start:
        raise IndexError("a run of bytes outside of its buffer")
    return 0


cdef inline int copy_bytes(
    unsigned char[::1] dst, Py_ssize_t at, const unsigned char[::1] src, Py_ssize_t start, Py_ssize_t n
) except -1:
    with cython.boundscheck(False):
        require_range(dst.shape[0], at, n)
        require_range(src.shape[0], start, n)
        if n == 0:
            return 0
        memcpy(&dst[at], &src[start], n)
        return any_high(&src[start], n)


cdef inline int any_high(const unsigned char* src, Py_ssize_t n) noexcept:
    # Return 0x80 if any of the bytes, at least one, has its highest bit set.
    cdef unsigned long long word = 0
    cdef unsigned long long non_ascii = 0
    cdef Py_ssize_t i = 0
    if n < 8:
        for i in range(n):
            non_ascii |= src[i]
    else:
        while i + 8 <= n:
            memcpy(&word, src + i, 8)
            non_ascii |= word
            i += 8
        # The last eight bytes, some of them a second time, which is faster than one by one.
        memcpy(&word, src + n - 8, 8)
        non_ascii |= word
    return 0x80 if non_ascii & 0x8080808080808080ULL else 0


cdef inline int move_bytes(
    unsigned char[::1] dst, Py_ssize_t at, const unsigned char[::1] src, Py_ssize_t start, Py_ssize_t n
) except -1:
    with cython.boundscheck(False):
        require_range(dst.shape[0], at, n)
        require_range(src.shape[0], start, n)
        if n > 0:
            memcpy(&dst[at], &src[start], n)
        return 0


cdef inline bint equal_bytes(
    const unsigned char[::1] a, Py_ssize_t a_start, const unsigned char[::1] b, Py_ssize_t b_start, Py_ssize_t n
) except -1:
    with cython.boundscheck(False):
        require_range(a.shape[0], a_start, n)
        require_range(b.shape[0], b_start, n)
        # RDF strings differ near their ends far more often than near their starts.
        if n > 0 and a[a_start + n - 1] != b[b_start + n - 1]:
            return False
        return n == 0 or memcmp(&a[a_start], &b[b_start], n) == 0


cdef inline Py_ssize_t after_last(
    const unsigned char[::1] src, Py_ssize_t start, Py_ssize_t n, unsigned char byte
) except -1:
    cdef Py_ssize_t i = start + n
    cdef unsigned long long word = 0
    with cython.boundscheck(False):
        require_range(src.shape[0], start, n)
        while i - start >= 8:
            # A byte of the word is now zero where `byte` was, and only then is one of these bits left.
            memcpy(&word, &src[i - 8], 8)
            word ^= 0x0101010101010101ULL * byte
            if (word - 0x0101010101010101ULL) & ~word & 0x8080808080808080ULL:
                break
            i -= 8
        while i > start and src[i - 1] != byte:
            i -= 1
        return i


cdef inline long long hash_bytes(
    const unsigned char[::1] src, Py_ssize_t start, Py_ssize_t n, unsigned int seed
) except -1:
    # The factors are odd numbers without a pattern, which spread every bit over the higher ones. Two sums, each of every
    # other eight bytes, take less time than one, because neither waits for the other.
    cdef unsigned long long h = (<unsigned long long> n << 32) | seed
    cdef unsigned long long g = ~h
    cdef unsigned long long word = 0
    cdef Py_ssize_t i = start
    cdef Py_ssize_t stop = start + n
    with cython.boundscheck(False):
        require_range(src.shape[0], start, n)
        while i + 16 <= stop:
            memcpy(&word, &src[i], 8)
            h = (h ^ word) * 0x9E3779B97F4A7C15ULL
            h ^= h >> 32
            memcpy(&word, &src[i + 8], 8)
            g = (g ^ word) * 0xD6E8FEB86659FD93ULL
            g ^= g >> 32
            i += 16
        if n >= 16:
            h ^= g
        if i + 8 <= stop:
            memcpy(&word, &src[i], 8)
            h = (h ^ word) * 0x9E3779B97F4A7C15ULL
            h ^= h >> 32
            i += 8
        if i < stop:
            if n >= 8:
                # The last eight bytes, some of them a second time, which is faster than one by one.
                memcpy(&word, &src[stop - 8], 8)
            else:
                word = 0
                while i < stop:
                    word = (word << 8) | src[i]
                    i += 1
            h = (h ^ word) * 0x9E3779B97F4A7C15ULL
            h ^= h >> 32
        h *= 0x9E3779B97F4A7C15ULL
        return <long long> (h >> 33)


cdef inline int append_bytes(
    unsigned char[::1] dst, Py_ssize_t at, const unsigned char[::1] src, Py_ssize_t start, Py_ssize_t n
) except -1:
    with cython.boundscheck(False):
        require_range(dst.shape[0], at, n)
        require_range(src.shape[0], start, n)
        # A copy of constant size is a few instructions. For short strings that takes less time than a call of memcpy
        # with a varying size, or a loop whose end the processor has to predict.
        if n <= 64 and at + 64 <= dst.shape[0] and start + 64 <= src.shape[0]:
            memcpy(&dst[at], &src[start], 64)
        elif n <= 128 and at + 128 <= dst.shape[0] and start + 128 <= src.shape[0]:
            memcpy(&dst[at], &src[start], 128)
        else:
            memcpy(&dst[at], &src[start], n)
        return 0


cdef inline int put_word(unsigned char[::1] dst, Py_ssize_t at, unsigned long long word) except -1:
    with cython.boundscheck(False):
        require_range(dst.shape[0], at, 8)
        memcpy(&dst[at], &word, 8)
        return 0


cdef inline void sip_round(unsigned long long* v) noexcept:
    v[0] += v[1]
    v[2] += v[3]
    v[1] = ((v[1] << 13) | (v[1] >> 51)) ^ v[0]
    v[3] = ((v[3] << 16) | (v[3] >> 48)) ^ v[2]
    v[0] = (v[0] << 32) | (v[0] >> 32)
    v[2] += v[1]
    v[0] += v[3]
    v[1] = ((v[1] << 17) | (v[1] >> 47)) ^ v[2]
    v[3] = ((v[3] << 21) | (v[3] >> 43)) ^ v[0]
    v[2] = (v[2] << 32) | (v[2] >> 32)


cdef inline int fingerprint_bytes(
    unsigned long long[::1] out, Py_ssize_t at, const unsigned char[::1] src, Py_ssize_t start, Py_ssize_t n,
    unsigned long long key, unsigned long long other_key,
) except -1:
    cdef unsigned long long v[4]
    cdef unsigned long long word = 0
    cdef Py_ssize_t i = start
    cdef Py_ssize_t stop = start + n
    cdef int shift = 0
    with cython.boundscheck(False):
        require_range(src.shape[0], start, n)
        require_range(out.shape[0], at, 2)
        v[0] = key ^ 0x736F6D6570736575ULL
        v[1] = other_key ^ 0x646F72616E646F6DULL ^ 0xEE
        v[2] = key ^ 0x6C7967656E657261ULL
        v[3] = other_key ^ 0x7465646279746573ULL
        while i + 8 <= stop:
            memcpy(&word, &src[i], 8)
            v[3] ^= word
            sip_round(v)
            sip_round(v)
            v[0] ^= word
            i += 8
        word = <unsigned long long> n << 56
        while i < stop:
            word |= <unsigned long long> src[i] << shift
            shift += 8
            i += 1
        v[3] ^= word
        sip_round(v)
        sip_round(v)
        v[0] ^= word
        v[2] ^= 0xEE
        for i in range(4):
            sip_round(v)
        out[at] = v[0] ^ v[1] ^ v[2] ^ v[3]
        v[1] ^= 0xDD
        for i in range(4):
            sip_round(v)
        out[at + 1] = v[0] ^ v[1] ^ v[2] ^ v[3]
        return 0
